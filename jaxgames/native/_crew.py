"""Threads that work for others without Python's global lock.

A range of places that is worth another core takes some tenths of a millisecond. Threads
that took their work from Python would wait for its lock as long as that, one after
another. So what they wait for, and whom they tell, is machine code as well.
"""

import ctypes
import functools
import hashlib
import threading
from pathlib import Path

from jaxgames.native._kept import assembled, function, kept, linked, target_name

CREW, JOB = 64, 10
"""Words of a crew and of a job, see `TEXT`."""

TEXT = """
; A crew: a mutex, a condition for new work, a condition for finished jobs, each in
; eight words, which are zeros at first, and the first job that has parts left.
; A job: what to call; the rooms, the arguments and how many words a part has of these;
; the results; the codes; the next part, how many there are, how many are not finished;
; the next job.

declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)

; Where a job is told of that has parts left: with the lock.
define internal ptr @find(ptr %crew, ptr %job) {
  %first = getelementptr i64, ptr %crew, i64 24
  br label %look
look:
  %slot = phi ptr [%first, %0], [%after, %next]
  %here = load ptr, ptr %slot
  %found = icmp eq ptr %here, %job
  br i1 %found, label %end, label %next
next:
  %after = getelementptr i64, ptr %here, i64 9
  br label %look
end:
  ret ptr %slot
}

; Takes a part and does it: with the lock before and afterwards, and not meanwhile.
define internal void @take(ptr %crew, ptr %job) {
  %next.at = getelementptr i64, ptr %job, i64 6
  %part = load i64, ptr %next.at
  %after = add i64 %part, 1
  store i64 %after, ptr %next.at
  %total.at = getelementptr i64, ptr %job, i64 7
  %total = load i64, ptr %total.at
  %last = icmp eq i64 %after, %total
  br i1 %last, label %unlink, label %work
unlink:
  %slot = call ptr @find(ptr %crew, ptr %job)
  %link.at = getelementptr i64, ptr %job, i64 9
  %link = load ptr, ptr %link.at
  store ptr %link, ptr %slot
  br label %work
work:
  %enter = load ptr, ptr %job
  %rooms.at = getelementptr i64, ptr %job, i64 1
  %rooms = load ptr, ptr %rooms.at
  %given.at = getelementptr i64, ptr %job, i64 2
  %given = load ptr, ptr %given.at
  %stride.at = getelementptr i64, ptr %job, i64 3
  %stride = load i64, ptr %stride.at
  %results.at = getelementptr i64, ptr %job, i64 4
  %results = load ptr, ptr %results.at
  %codes.at = getelementptr i64, ptr %job, i64 5
  %codes = load ptr, ptr %codes.at
  %1 = call i32 @pthread_mutex_unlock(ptr %crew)
  %room.word = mul i64 %part, 3
  %room = getelementptr i64, ptr %rooms, i64 %room.word
  %word = mul i64 %part, %stride
  %own = getelementptr i64, ptr %given, i64 %word
  %code = call i32 %enter(ptr %room, ptr %own, ptr %results)
  %code.at = getelementptr i32, ptr %codes, i64 %part
  store i32 %code, ptr %code.at
  %2 = call i32 @pthread_mutex_lock(ptr %crew)
  %left.at = getelementptr i64, ptr %job, i64 8
  %before = load i64, ptr %left.at
  %left = sub i64 %before, 1
  store i64 %left, ptr %left.at
  %finished = icmp eq i64 %left, 0
  br i1 %finished, label %tell, label %end
tell:
  %done = getelementptr i64, ptr %crew, i64 16
  %3 = call i32 @pthread_cond_broadcast(ptr %done)
  br label %end
end:
  ret void
}

; What a thread does for ever.
define void @serve(ptr %crew) {
  %work = getelementptr i64, ptr %crew, i64 8
  %first = getelementptr i64, ptr %crew, i64 24
  %1 = call i32 @pthread_mutex_lock(ptr %crew)
  br label %look
look:
  %job = load ptr, ptr %first
  %none = icmp eq ptr %job, null
  br i1 %none, label %wait, label %do
wait:
  %2 = call i32 @pthread_cond_wait(ptr %work, ptr %crew)
  br label %look
do:
  call void @take(ptr %crew, ptr %job)
  br label %look
}

; Has a job done, and does of it what no other thread has begun.
define void @run(ptr %crew, ptr %job) {
  %work = getelementptr i64, ptr %crew, i64 8
  %done = getelementptr i64, ptr %crew, i64 16
  %next.at = getelementptr i64, ptr %job, i64 6
  %total.at = getelementptr i64, ptr %job, i64 7
  %total = load i64, ptr %total.at
  %left.at = getelementptr i64, ptr %job, i64 8
  %1 = call i32 @pthread_mutex_lock(ptr %crew)
  %end.of.list = call ptr @find(ptr %crew, ptr null)
  store ptr %job, ptr %end.of.list
  %2 = call i32 @pthread_mutex_unlock(ptr %crew)
  br label %wake
wake:
  %woken = phi i64 [1, %0], [%more, %signal]
  %enough = icmp sge i64 %woken, %total
  br i1 %enough, label %begin, label %signal
signal:
  %3 = call i32 @pthread_cond_signal(ptr %work)
  %more = add i64 %woken, 1
  br label %wake
begin:
  %4 = call i32 @pthread_mutex_lock(ptr %crew)
  br label %look
look:
  %next = load i64, ptr %next.at
  %has.more = icmp slt i64 %next, %total
  br i1 %has.more, label %do, label %wait
do:
  call void @take(ptr %crew, ptr %job)
  br label %look
wait:
  %left = load i64, ptr %left.at
  %finished = icmp eq i64 %left, 0
  br i1 %finished, label %end, label %sleep
sleep:
  %5 = call i32 @pthread_cond_wait(ptr %done, ptr %crew)
  br label %wait
end:
  %6 = call i32 @pthread_mutex_unlock(ptr %crew)
  ret void
}
"""


@functools.cache
def _functions() -> tuple:
    digest = hashlib.sha256(repr((TEXT, target_name())).encode()).hexdigest()[:16]
    name = f"{__name__}-{digest}.native"
    code = linked(kept(name, Path(__file__), lambda: assembled(TEXT)), ("serve", "run"))
    pointer = ctypes.c_void_p
    serve, run = (
        function(code["serve"], pointer),
        function(code["run"], pointer, pointer),
    )
    serve.code = code  # pyright: ignore[reportFunctionMemberAccess]
    return serve, run


class Crew:
    """Some threads, which begin at once and wait for work.

    Args:
        threads: how many, beside that of a caller.
    """

    def __init__(self, threads: int):
        self._words = (ctypes.c_int64 * CREW)()
        serve, self._run = _functions()
        for _ in range(threads):
            threading.Thread(
                target=serve, args=(self._words,), name="jaxgames", daemon=True
            ).start()

    def run(
        self, enter: int, rooms: int, given: int, stride: int, results: int, parts: int
    ) -> list[int]:
        """Calls machine code once for each part, and waits until all have ended.

        Args:
            enter: where the code is: a function of a room, arguments and results.
            rooms: where three words for each part are.
            given: where the arguments are.
            stride: words of arguments of a part.
            results: where results go, of which there are none.
            parts: how many there are.

        Returns:
            What the calls returned.
        """
        codes = (ctypes.c_int32 * parts)()
        job = (ctypes.c_int64 * JOB)(
            enter, rooms, given, stride, results, ctypes.addressof(codes),
            0, parts, parts, 0,
        )  # fmt: skip
        self._run(self._words, job)
        return codes[:]
