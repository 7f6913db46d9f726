"""Threads that work for others without Python's global lock.

A range of places that is worth another core takes some tenths of a millisecond. Threads
that took their work from Python would wait for its lock as long as that, one after
another. So what they wait for, and whom they tell, is machine code as well.
"""

import array
import ctypes
import functools
import threading
from pathlib import Path

import numpy as np

from jaxgames.native._kept import function, library
from jaxgames.tuning.base import PATIENT_LOOKS

CREW, JOB = 64, 10
"""Words of a crew and of a job, see `TEXT`."""

STEPS, APART = 6, 16
"""Words before the arguments of one who takes steps, and between its counters, so that
they are not in one line of a cache."""

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
declare i32 @sched_yield()
declare void @llvm.x86.sse2.pause()

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

; What one of several threads does that take steps in turn, each of which waits until as
; many have ended as are of levels before its own: what to call; two counters, of steps
; that are taken and that have ended; for each step two arguments, and how many it waits
; for; how many steps there are; which of these words the two arguments are; how many
; looks are made until other threads may have the core; and the arguments.
define i32 @steps(ptr %room, ptr %own, ptr %results) {
  %enter = load ptr, ptr %own
  %taken.at = getelementptr i64, ptr %own, i64 1
  %taken = load ptr, ptr %taken.at
  %ended = getelementptr i64, ptr %taken, i64 16
  %list.at = getelementptr i64, ptr %own, i64 2
  %list = load ptr, ptr %list.at
  %total.at = getelementptr i64, ptr %own, i64 3
  %total = load i64, ptr %total.at
  %place.at = getelementptr i64, ptr %own, i64 4
  %place = load i64, ptr %place.at
  %patience.at = getelementptr i64, ptr %own, i64 5
  %patience = load i64, ptr %patience.at
  %given = getelementptr i64, ptr %own, i64 6
  %first.at = getelementptr i64, ptr %own, i64 %place
  %last.at = getelementptr i64, ptr %first.at, i64 1
  br label %look
look:
  %code = phi i32 [0, %0], [%worst, %work]
  %step = atomicrmw add ptr %taken, i64 1 monotonic
  %over = icmp sge i64 %step, %total
  br i1 %over, label %end, label %told
told:
  %word = mul i64 %step, 3
  %row = getelementptr i64, ptr %list, i64 %word
  %first = load i64, ptr %row
  %last.from = getelementptr i64, ptr %row, i64 1
  %last = load i64, ptr %last.from
  %needs.from = getelementptr i64, ptr %row, i64 2
  %needs = load i64, ptr %needs.from
  br label %wait
wait:
  %looks = phi i64 [0, %told], [%more, %breathe], [0, %yield]
  %done = load atomic i64, ptr %ended acquire, align 8
  %may = icmp sge i64 %done, %needs
  br i1 %may, label %work, label %again
again:
  %more = add i64 %looks, 1
  %tired = icmp sgt i64 %more, %patience
  br i1 %tired, label %yield, label %breathe
breathe:
  call void @llvm.x86.sse2.pause()
  br label %wait
yield:
  %1 = call i32 @sched_yield()
  br label %wait
work:
  store i64 %first, ptr %first.at
  store i64 %last, ptr %last.at
  %found = call i32 %enter(ptr %room, ptr %given, ptr %results)
  %2 = atomicrmw add ptr %ended, i64 1 release
  %fine = icmp eq i32 %code, 0
  %worst = select i1 %fine, i32 %found, i32 %code
  br label %look
end:
  ret i32 %code
}
"""


@functools.cache
def _functions() -> tuple:
    code = library(__name__, Path(__file__), TEXT, ("serve", "run", "steps"))
    pointer = ctypes.c_void_p
    serve, run = (
        function(code["serve"], pointer),
        function(code["run"], pointer, pointer),
    )
    serve.code = code  # pyright: ignore[reportFunctionMemberAccess]
    return serve, run, code["steps"]


class Crew:
    """Some threads, which begin at once and wait for work.

    Args:
        threads: how many, beside that of a caller.
    """

    def __init__(self, threads: int):
        self._words = (ctypes.c_int64 * CREW)()
        serve, self._run, self._steps = _functions()
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

    def steps(
        self, enter: int, given: list[int], steps: np.ndarray, threads: int
    ) -> list[int]:
        """Has threads take steps in turn, each as soon as others have ended.

        Args:
            enter: as for `run`.
            given: the arguments, the last two of which each step has its own of.
            steps: int64 `[N, 3]`, what these are, and how many steps end before: all
                of earlier levels.
            threads: how many take steps.

        Returns:
            What the calls returned, of each thread the first that is not zero.
        """
        counters = (ctypes.c_int64 * (2 * APART))()
        place = STEPS + len(given) - 2
        own = array.array("q", [enter, ctypes.addressof(counters), steps.ctypes.data])
        own.extend((len(steps), place, PATIENT_LOOKS))
        own.extend(given)
        own.extend([0] * APART)  # what a thread writes is not what the next one reads
        rooms = (ctypes.c_int64 * (3 * threads))()
        results, words = ctypes.c_int64(), own * threads
        return self.run(
            self._steps,
            ctypes.addressof(rooms),
            words.buffer_info()[0],
            len(own),
            ctypes.addressof(results),
            threads,
        )
