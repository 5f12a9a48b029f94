// Fuzz entry for the reader of recordings: files that may come from anywhere. `Scripts/fuzz.sh` builds and runs it.
//
// corpus: recordings
//
// The input is a file. It is read whole and in two pieces, which must give the same records and the same fault; and
// what it holds, if it can be played at all, is played to a program that says what was recorded, which must come out
// identical.
import Clocks
// Frames reads JSON with it, and a static library does not bring along what it links.
import FoundationEssentials
import Frames
import Recordings

/// What reading a file came to.
private struct Outcome: Equatable {
  var records: [Record] = []
  var fault: RecordingFault?
  var restByteCount = 0
}

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRecordingReader(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeRawBufferPointer(start: start, count: count))
  let whole = read([bytes])
  let place = count == 0 ? 0 : Int(bytes[count / 2]) * count / 256
  let halves = read([Array(bytes[..<place]), Array(bytes[place...])])
  precondition(whole.fault != nil || whole == halves, "a file reads the same at every split")
  do throws(RecordingFault) { play(try Recording(reading: bytes)) } catch {
    precondition(error == whole.fault || error == .noOpening, "a file has one fault")
  }
  return 0
}

private func read(_ pieces: [[UInt8]]) -> Outcome {
  var reader = RecordingReader()
  var outcome = Outcome()
  do throws(RecordingFault) {
    for piece in pieces {
      reader.append(piece)
      while let record = try reader.next() { outcome.records.append(record) }
    }
  } catch { outcome.fault = error }
  outcome.restByteCount = reader.restByteCount
  return outcome
}

/// Says to the replay what the recording says of the worker, as fast as it is asked for.
private func play(_ recording: Recording) {
  var now = Instant(nanoseconds: 1)
  guard var replay = try? Replay(recording, ReplaySettings(), now: now) else { return }
  var isOver = false
  func perform(_ actions: [Replay.Action]) {
    for action in actions { if case .finished = action { isOver = true } }
  }
  for frame in recording.frames where frame.direction == .fromWorker && !isOver {
    perform(replay.received(frame.header, frame.payload, now: now))
  }
  // Bounded by its deadlines, whatever the recording says of time.
  for _ in 0..<10_000 where !isOver {
    guard let deadline = replay.deadline else { preconditionFailure("a replay without a deadline is over") }
    now = max(now, deadline)
    perform(replay.timerFired(now: now))
  }
  precondition(isOver, "every replay ends")
}
