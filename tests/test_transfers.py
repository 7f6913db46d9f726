"""Large arrays on their way to a device and back."""

import subprocess
import sys

import jax
import numpy as np
import pytest

from jaxgames import ops
from jaxgames.ops import _transfers


@pytest.mark.parametrize("size", [0, 5, 16, 1003])
def test_what_is_sent_arrives(size, monkeypatch):
    monkeypatch.setattr(_transfers, "LARGE", 16)
    x = np.arange(size, dtype=np.int32)
    pieces = ops.send(x)
    assert len(pieces) == (_transfers.PIECES if x.nbytes >= 16 else 1)
    np.testing.assert_array_equal(ops.joined(pieces), x)


@pytest.mark.parametrize("kind", [np.int8, np.int32])
def test_what_is_fetched_arrives(kind, monkeypatch):
    monkeypatch.setattr(_transfers, "WRITTEN_FROM", 16)
    monkeypatch.setattr(_transfers, "lies_apart", lambda x: True)
    for size in (64, 63, 3):  # large ones and a small one
        x = np.arange(size).astype(kind)
        one, (two, three) = ops.to_host(jax.device_put((x, (x + 1, kind(7)))))
        assert one.dtype == two.dtype == kind
        np.testing.assert_array_equal(one, x)
        np.testing.assert_array_equal(two, x + 1)
        assert three == 7
        alone = ops.to_host(jax.device_put(x))
        assert isinstance(alone, np.ndarray)
        np.testing.assert_array_equal(alone, x)


def test_memory_of_the_host_is_not_copied():
    x = jax.device_put(np.arange(_transfers.LARGE), jax.devices("cpu")[0])
    assert not _transfers.lies_apart(x)
    assert np.shares_memory(ops.to_host(x), np.asarray(x))


def test_the_default_device_is_where_jax_puts_arrays():
    def there():
        return jax.device_put(np.int8(0)).device

    assert ops.default_device() == there()
    with jax.default_device("cpu"):
        assert ops.default_device() == there()
    last = jax.devices()[-1]
    with jax.default_device(last):
        assert ops.default_device() == there() == last


def test_the_default_device_may_be_what_imports_jax():
    code = "from jaxgames import ops; import sys; print('jax' in sys.modules); "
    code += "print(ops.default_device().platform)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", jax.default_backend()]
