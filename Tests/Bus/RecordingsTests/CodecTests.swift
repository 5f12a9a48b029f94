import Clocks
import Contracts
import Frames
import TestSupport
import Testing

@testable import Recordings

@Suite("A recording")
struct CodecTests {
  /// A random recording, its records, and its bytes with the places where records end.
  private struct Sample {
    var records: [RecordingEntry] = []
    var bytes: [UInt8] = []
    var boundaries: [Int] = []

    init(seed: UInt64, isEnded: Bool = true) {
      var random = SeededGenerator(seed: seed)
      var writer = RecordingWriter()
      bytes = writer.open(Samples.opening)
      boundaries = [bytes.count]
      for number in 0..<40 {
        let time = UInt64(number) * 977
        if Int.random(in: 0..<10, using: &random) == 0 {
          writer.missed()
          records.append(.gap(nanoseconds: time, missingCount: 1))
        }
        let direction: RecordedFrame.Direction = Bool.random(using: &random) ? .toWorker : .fromWorker
        let payload = (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
        }
        let isSecret = Int.random(in: 0..<6, using: &random) == 0
        let header = FrameHeader(
          type: .request, flags: .raw, source: Endpoint(rawValue: .random(in: 0...9_999, using: &random)),
          id: UInt64(number), method: .random(in: 0...0x4100, using: &random), payloadByteCount: payload.count)
        bytes += payload.withUnsafeBytes {
          writer.append(direction, header, $0, isSecret: isSecret, nanoseconds: time)
        }
        boundaries.append(bytes.count)
        records.append(
          .frame(
            RecordedFrame(
              nanoseconds: time, direction: direction, header: header, payload: isSecret ? [] : payload,
              isWithheld: isSecret)))
      }
      guard isEnded else { return }
      let end = RecordingEnd(.connection, "it left")
      bytes += writer.finish(end, 40_000)
      boundaries.append(bytes.count)
      records.append(.end(nanoseconds: 40_000, end))
      #expect(writer.byteCount == bytes.count)
    }
  }

  @Test("reads as it was written, whatever was in it", arguments: 0..<50)
  func roundTrip(seed: Int) throws {
    let sample = Sample(seed: UInt64(seed))
    let recording = try Recording(reading: sample.bytes)
    #expect(recording.opening == Samples.opening)
    #expect(recording.records == sample.records, "seed \(seed)")
    #expect(recording.end?.reason == .connection && !recording.isCutOff)
  }

  @Test("reads the same, however its bytes are cut", arguments: 0..<30)
  func anySplit(seed: Int) throws {
    let sample = Sample(seed: UInt64(seed))
    var random = SeededGenerator(seed: UInt64(seed) + 1_000)
    var reader = RecordingReader()
    var records: [RecordingEntry] = []
    var rest = sample.bytes[...]
    while !rest.isEmpty {
      let count = min(rest.count, Int.random(in: 1...(seed % 3 == 0 ? 3 : 90), using: &random))
      reader.append(rest.prefix(count))
      rest = rest.dropFirst(count)
      while let record = try reader.next() { records.append(record) }
    }
    #expect(records == sample.records, "seed \(seed)")
    #expect(reader.restByteCount == 0)
  }

  @Test("that stops at any byte gives the records that are whole, and says that it was cut off")
  func truncated() throws {
    let sample = Sample(seed: 5, isEnded: false)
    for count in 0..<sample.bytes.count {
      let bytes = Array(sample.bytes.prefix(count))
      guard count >= sample.boundaries[0] else {
        #expect(throws: RecordingFault.noOpening) { try Recording(reading: bytes) }
        continue
      }
      let recording = try Recording(reading: bytes)
      let frames = sample.boundaries.dropFirst().prefix { $0 <= count }.count
      // A gap may be whole where the frame behind it is not.
      let gaps = recording.records.count - recording.frames.count
      #expect(recording.records == Array(sample.records.prefix(frames + gaps)), "byte \(count)")
      #expect(recording.end == nil)
    }
  }

  @Test("damaged at any byte gives a fault or other records, and never ends the reader")
  func damaged() {
    let sample = Sample(seed: 8)
    var random = SeededGenerator(seed: 8)
    for place in sample.bytes.indices {
      var bytes = sample.bytes
      bytes[place] ^= UInt8.random(in: 1...255, using: &random)
      do { _ = try Recording(reading: bytes) } catch { #expect(!error.description.isEmpty) }
    }
  }

  @Test("of another kind, version or size is refused with a reason")
  func refused() {
    let whole = Sample(seed: 1).bytes
    #expect(throws: RecordingFault.notARecording) { try Recording(reading: Array("ROOSTLOG and more".utf8)) }
    #expect(throws: RecordingFault.version(2)) {
      var bytes = whole
      bytes[8] = 2
      _ = try Recording(reading: bytes)
    }
    #expect(throws: RecordingFault.opening("it has 4294967295 bytes")) {
      _ = try Recording(reading: Array(whole.prefix(12)) + [255, 255, 255, 255])
    }
    #expect(throws: RecordingFault.self) { _ = try Recording(reading: whole + [0]) }
    let first = Int(whole[12]) + Int(whole[13]) << 8 + 16
    for reserved in [10, 11, first + 10, first + 11] {
      var bytes = whole
      bytes[reserved] = 1
      #expect(throws: RecordingFault.self, "byte \(reserved) must be 0") { _ = try Recording(reading: bytes) }
    }
  }

  @Test("never holds the token of a HELLO, wherever it stands and however it is spelled")
  func tokens() throws {
    let secret = "2ec043dae87bbe4b31ceb13296ad3ada"
    let greetings = [
      Samples.hello(#","token":"\#(secret)""#), Samples.bytes(#"{"\u0074oken":"\#(secret)","name":"a","role":"b"}"#),
      Samples.bytes(#"{"token":"x","token":"\#(secret)"}"#), Samples.bytes(#"{"token":{"deep":"\#(secret)"}}"#),
      Samples.bytes(#"{"token":"\#(secret)"#),
    ]
    for greeting in greetings {
      var writer = RecordingWriter()
      var bytes = writer.open(Samples.opening)
      let header = FrameHeader(type: .hello, payloadByteCount: greeting.count)
      bytes += greeting.withUnsafeBytes {
        writer.append(.fromWorker, header, $0, isSecret: false, nanoseconds: 1)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(!text.contains(secret))
      let frame = try #require(try Recording(reading: bytes).frames.first)
      #expect(frame.isTokenRemoved != frame.isWithheld)
    }
  }

  @Test("is never larger than its limit, and ends by saying so")
  func limit() throws {
    var writer = RecordingWriter(byteCountMaximum: 0)
    #expect(writer.byteCountMaximum == RecordingWriter.byteCountMinimum)
    var bytes = writer.open(Samples.opening)
    let payload = [UInt8](repeating: 7, count: 10_000)
    var count = 0
    while writer.end == nil {
      bytes += payload.withUnsafeBytes {
        writer.append(.toWorker, Samples.request(1), $0, isSecret: false, nanoseconds: 1)
      }
      count += 1
    }
    #expect(bytes.count <= RecordingWriter.byteCountMinimum && bytes.count == writer.byteCount)
    let more = payload.withUnsafeBytes {
      writer.append(.toWorker, Samples.request(1), $0, isSecret: false, nanoseconds: 1)
    }
    let last = writer.finish(RecordingEnd(.asked, ""), 2)
    #expect(more.isEmpty && last.isEmpty)
    let recording = try Recording(reading: bytes)
    #expect(recording.end?.reason == .size && recording.frames.count == count - 1)
  }

  @Test("withholds payloads of secret methods, and of answers that do not say what they answer")
  func secrecy() {
    let table = AccessTable()
    #expect(AccessEntry(600, "signer.sign", servedBy: .signer, callers: []).isSecret)
    #expect(!AccessEntry(256, "relay.request", servedBy: .relayConnector, callers: []).isSecret)
    func isSecret(_ type: FrameType, _ method: UInt16, _ direction: Bool, servesSecrets: Bool = false) -> Bool {
      table.isSecret(FrameHeader(type: type, method: method), isFromWorker: direction, servesSecrets: servesSecrets)
    }
    #expect(isSecret(.response, 6, false))
    #expect(isSecret(.request, 6, true))
    #expect(!isSecret(.request, 256, false))
    #expect(!isSecret(.response, 0, true))
    #expect(isSecret(.response, 0, true, servesSecrets: true))
    #expect(isSecret(.progress, 9_999, true, servesSecrets: true))
    #expect(!isSecret(.hello, 0, true, servesSecrets: true))
  }

  @Test("The settings are those of WELCOME, and none without one")
  func settings() throws {
    let window = Window(frames: 1, bytes: 1)
    let registry = Registry(methods: [:], topics: [:], roles: [:], members: [])
    var welcome = Welcome(endpoint: 1, frameLimit: 65_536, window: window, registry: registry)
    welcome.configuration = .object(["caFile": .string("/a.pem")])
    let text = String(decoding: JSONPayload.encode(welcome), as: UTF8.self)
    let recording = try Samples.recording([(.toWorker, FrameHeader(type: .welcome), text)])
    #expect(recording.settings?["caFile"] == .string("/a.pem"))
    #expect(try Samples.recording(Samples.start).settings == nil)
    #expect(try Samples.recording([]).settings == nil)
  }
}
