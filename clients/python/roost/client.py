"""A connection to Roost: one process of `roost bus`, which is started again when it has ended.

Several threads may use one connection. There is no thread of its own: of the threads that wait for an answer one reads
the lines, and hands those of other answers over. What of an answer is not taken waits in its window, so memory is
bounded whatever the program does meanwhile.
"""

from __future__ import annotations

import base64
import collections
import json
import os
import subprocess
import threading
from typing import Any, Callable, Generic, Iterator, TypeVar

from roost.methods import Methods

Part = TypeVar("Part")
Result = TypeVar("Result")
Event = TypeVar("Event")

WINDOW = 64  # parts or events of one answer that may wait here
ANSWERS_MAXIMUM = 1_000  # answers under way; less than what `roost bus` reads of its input without ending one
LINE_MAXIMUM = 16 << 20  # bytes


class Refused(Exception):
    """Roost refused a request, or its answer was lost."""

    def __init__(self, refusal: dict[str, Any]) -> None:
        super().__init__(f"{refusal['message']} ({refusal['code']})")
        self.code: str = refusal["code"]  # compare this
        self.message: str = refusal["message"]
        self.outcome: str | None = refusal.get("outcome")  # "not-started", "unknown", "done", or not known
        self.retry_after_milliseconds: int | None = refusal.get("retryAfterMilliseconds")


class Missed:
    """In a subscription: at this place so many events are missing. None: an unknown number, after a lost connection."""

    def __init__(self, count: int | None) -> None:
        self.count = count

    def __repr__(self) -> str:
        return f"Missed({self.count})"


class Roost(Methods):
    """A client of Roost. Methods are attributes: `roost.store.count(filters=[{"kinds": [1]}])`.

    name: what `roost status` shows. socket: the supervisor's, instead of the usual places. program: the command line.
    Nothing is started before the first request.
    """

    def __init__(self, name: str = "python", *, socket: str | None = None, program: str = "roost") -> None:
        self._command = [program, "bus", "--json", "--name", name] + (["--socket", socket] if socket else [])
        self._line: Line | None = None
        self._lock = threading.Lock()

    def call(
        self, method: str, arguments: Any = None, *, to: str | None = None, timeout: float = 0,
        at_most_once: bool = False, idempotent: bool = False, on_progress: Callable[[Any], None] | None = None,
    ) -> Any:
        """The result of a method that answers in one piece.

        arguments: a dict, or bytes for a method whose arguments are raw. to: the name of a worker. timeout: how many
        seconds the answer is of use; 0: any number. at_most_once: never delivered again after a worker's death.
        idempotent: asked again after a lost connection. Raises Refused.
        """
        line, answer = self._begin(request(method, arguments, to, timeout, at_most_once, idempotent))
        try:
            while reply := line.take(answer):
                if "result" in reply or "resultBase64" in reply:
                    return value(reply, "result")
                if "error" in reply:
                    raise Refused(reply["error"])
                if "part" in reply or "partBase64" in reply:
                    raise TypeError(f"{method} answers in parts: call it by stream()")
                if on_progress:
                    on_progress(value(reply, "progress"))
        except BaseException:
            line.give_up(answer)
            raise

    def stream(
        self, method: str, arguments: Any = None, *, to: str | None = None, timeout: float = 0,
        at_most_once: bool = False, idempotent: bool = False, on_progress: Callable[[Any], None] | None = None,
    ) -> Stream[Any, Any]:
        """The parts of an answer as they come; otherwise as `call`. Raises Refused while it is read."""
        wanted = request(method, arguments, to, timeout, at_most_once, idempotent)
        return Stream(*self._begin(wanted), on_progress)

    def _subscribe(self, topic: str) -> Subscription[Any]:
        subscription: Subscription[Any] = Subscription(*self._begin({"subscribe": topic, "window": WINDOW}))
        subscription._await_begin()
        return subscription

    def close(self) -> None:
        """Ends the connection; what is under way is refused. A later request makes a new one."""
        with self._lock:
            line, self._line = self._line, None
        if line:
            line.end()

    def __enter__(self) -> Roost:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, request: dict[str, Any]) -> tuple[Line, Answer]:
        with self._lock:
            if self._line is None or self._line.has_ended():
                self._line = Line(self._command)
            line = self._line
        return line, line.begin(request)


class Answer:
    """What has come of one answer and was not taken."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.lines: collections.deque[dict[str, Any] | None] = collections.deque()


class Line:
    """One process of `roost bus`."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
        except FileNotFoundError:
            text = f"there is no program '{command[0]}': install Roost, or name the program by Roost(program=…)"
            raise Refused({"code": "no-supervisor", "message": text, "outcome": "not-started"}) from None
        assert self.process.stdin and self.process.stdout
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.answers: dict[int, Answer] = {}
        self.count = 0
        self.rest = b""
        self.refusal: dict[str, Any] | None = None
        self.is_reading = False
        self.waiting = 0
        self.lock = threading.RLock()
        self.turn = threading.Condition(self.lock)
        self.sending = threading.RLock()  # A stream may be dropped, and so given up, at any place.

    def has_ended(self) -> bool:
        return self.refusal is not None or self.process.poll() is not None

    def begin(self, request: dict[str, Any]) -> Answer:
        with self.lock:
            if len(self.answers) >= ANSWERS_MAXIMUM:
                text = f"{ANSWERS_MAXIMUM} answers are under way already"
                raise Refused({"code": "full", "message": text, "outcome": "not-started"})
            self.count += 1
            answer = Answer(self.count)
            encoded_request = encoded({"id": answer.number, **request})
            self.answers[answer.number] = answer
        self.send(encoded_request)
        return answer

    def send(self, text: bytes) -> None:
        with self.sending:
            try:
                while text:
                    text = text[os.write(self.input, text):]
            except (BrokenPipeError, ValueError, OSError):
                pass  # It has ended: who waits for the answer reads why.

    def take(self, answer: Answer) -> dict[str, Any] | None:
        """The next line of an answer, which waits for it; None after `give_up`."""
        with self.lock:
            while not answer.lines:
                if self.refusal:
                    return {"error": self.refusal}
                if self.is_reading:
                    self.waiting += 1
                    self.turn.wait()
                    self.waiting -= 1
                else:
                    self.read()
            return answer.lines.popleft()

    def read(self) -> None:
        """Reads what is there, or waits for it. The lock, which is held, is free meanwhile."""
        data = None
        self.is_reading = True
        self.lock.release()
        try:
            data = os.read(self.output, 1 << 16)
        finally:
            self.lock.acquire()
            self.is_reading = False
            if data is not None:
                self.received(data)
            if self.waiting:
                self.turn.notify_all()

    def received(self, data: bytes) -> None:
        if not data:
            self.refusal = self.refusal or self.reason_of_end()
            return
        *lines, self.rest = (self.rest + data).split(b"\n")
        for text in lines:
            line = json.loads(text)
            if line["id"] is None:
                # Roost could not read what was sent, and so cannot say what it was.
                self.refusal = line["error"]
            elif answer := self.answers.get(line["id"]):
                # Of what the worker says while it works, the last is enough.
                if answer.lines and answer.lines[-1] and any(name.startswith("progress") for name in answer.lines[-1]):
                    answer.lines.pop()
                answer.lines.append(line)
                if "result" in line or "error" in line or "resultBase64" in line:
                    del self.answers[line["id"]]

    def reason_of_end(self) -> dict[str, Any]:
        assert self.process.stderr
        said = self.process.stderr.read().decode(errors="replace").strip()
        status = self.process.wait()
        try:
            return dict(json.loads(said))
        except ValueError:
            text = f"'roost bus' has ended with {status}; whether the request was carried out is not known. {said}"
            return {"code": "disconnected", "message": text.strip(), "outcome": "unknown"}

    def give_up(self, answer: Answer) -> None:
        """Nothing more of an answer is wanted. A thread that waits for it gets None."""
        with self.lock:
            is_under_way = self.answers.pop(answer.number, None) is not None
            answer.lines.clear()
            answer.lines.append(None)
            self.turn.notify_all()
        if is_under_way:
            self.send(encoded({"cancel": answer.number}))

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        with self.lock:
            if not self.refusal:
                self.refusal = {"code": "disconnected", "message": "the connection was closed", "outcome": "unknown"}
            self.turn.notify_all()

    def __del__(self) -> None:
        if hasattr(self, "process") and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


class Reader:
    """The lines of one answer."""

    def __init__(self, line: Line, answer: Answer) -> None:
        self._line, self._answer, self._taken = line, answer, 0
        self._is_over = False

    def close(self) -> None:
        """Gives it up. Leaving a `with` block does so too, and so does leaving the loop over an answer kept nowhere."""
        if not self._is_over:
            self._is_over = True
            self._line.give_up(self._answer)

    def __del__(self) -> None:
        self.close()

    def _next_line(self) -> dict[str, Any] | None:
        """None at the end. Raises what ended it otherwise."""
        if self._is_over:
            return None
        try:
            line = self._line.take(self._answer)
        except BaseException:
            self.close()
            raise
        if line is None or "result" in line or "resultBase64" in line or "error" in line:
            self._is_over = True
        if line and "error" in line:
            raise Refused(line["error"])
        return line

    def _grant(self) -> None:
        self._taken += 1
        if 2 * self._taken >= WINDOW:
            self._line.send(encoded({"more": self._answer.number, "count": self._taken}))
            self._taken = 0


class Stream(Reader, Generic[Part, Result]):
    """The parts of an answer, as they come. `result` is the end of the answer, after the last part."""

    def __init__(self, line: Line, answer: Answer, on_progress: Callable[[Any], None] | None) -> None:
        super().__init__(line, answer)
        self._on_progress = on_progress
        self.result: Result | None = None

    def __iter__(self) -> Iterator[Part]:
        return self

    def __next__(self) -> Part:
        while line := self._next_line():
            if "part" in line or "partBase64" in line:
                self._grant()
                part: Part = value(line, "part")
                return part
            if "result" in line or "resultBase64" in line:
                self.result = value(line, "result")
            elif self._on_progress:
                self._on_progress(value(line, "progress"))
        raise StopIteration

    def __enter__(self) -> Stream[Part, Result]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Subscription(Reader, Generic[Event]):
    """The events of a topic, without an end, and a `Missed` where some are missing."""

    def _await_begin(self) -> None:
        self._next_line()

    def __iter__(self) -> Iterator[Event | Missed]:
        return self

    def __next__(self) -> Event | Missed:
        line = self._next_line()
        if line is None:
            raise StopIteration
        self._grant()
        return Missed(line["missed"]) if "missed" in line else value(line, "event")

    def __enter__(self) -> Subscription[Event]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def request(
    method: str, arguments: Any, to: str | None, timeout: float, at_most_once: bool, idempotent: bool
) -> dict[str, Any]:
    """A request as it is written, without its id."""
    wanted: dict[str, Any] = {"method": method, "window": WINDOW}
    if isinstance(arguments, (bytes, bytearray)):
        wanted["paramsBase64"] = base64.b64encode(arguments).decode()
    elif arguments is not None:
        wanted["params"] = arguments
    if to is not None:
        wanted["to"] = to
    if timeout > 0:
        wanted["ttlMilliseconds"] = max(1, round(timeout * 1000))
    if at_most_once:
        wanted["atMostOnce"] = True
    if idempotent:
        wanted["idempotent"] = True
    return wanted


def value(line: dict[str, Any], name: str) -> Any:
    """A value of a line; raw bytes come as Base64."""
    return line[name] if name in line else base64.b64decode(line[f"{name}Base64"])


ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def encoded(line: dict[str, Any]) -> bytes:
    """A line as it is written. Raises TypeError or ValueError for what is no JSON."""
    text = ENCODER.encode(line).encode() + b"\n"
    if len(text) > LINE_MAXIMUM:
        raise ValueError(f"a request has at most {LINE_MAXIMUM} bytes, this one has {len(text)}")
    return text
