import Frames
import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// A peer that spoke the protocol yesterday is understood today.
  @Suite("Transcripts")
  struct TranscriptTests {
    @Test("A client and a worker of version 0.1.0 are understood, and understand what they get")
    func firstVersion() throws {
      let folder = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
      let text = String(
        decoding: try #require(SharedFolder.bytes(ofFile: "/\(folder)/Transcripts/rbp1.txt")), as: UTF8.self)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      var layout = Layout()
      layout.workers = []
      try withRoost(layout) { roost in
        var replay = Replay(socket: roost.socket)
        var count = 0
        for (index, line) in lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") {
          do { try replay.perform(line) } catch {
            throw DeadlinePassed(description: "line \(index + 1) of the transcript (\(line.prefix(200))): \(error)")
          }
          count += 1
        }
        #expect(count > 60, "the whole of it was replayed")
      }
    }
  }
}

/// A transcript being replayed: connections by name, and what its variables stand for.
private struct Replay {
  /// A frame as it stands in the transcript, its fields not read yet.
  private struct Line {
    var fields: [Substring]
    var payload: Substring

    var isCredit: Bool { fields[2] == "07" }
  }

  private let socket: String
  private var peers: [Substring: (connection: BusPeer, input: [UInt8])] = [:]
  private var variables: [Substring: JSONValue] = [:]

  init(socket: String) { self.socket = socket }

  mutating func perform(_ text: Substring) throws {
    let words = text.split(separator: " ", maxSplits: 15)
    let (name, isSent) = (words[0], words[1] == ">")
    if peers[name] == nil { peers[name] = (try BusPeer(socket: socket, hello: nil), []) }
    if words[2] == "end" {
      if isSent { peers[name] = nil } else { try expectEnd(of: name) }
      return
    }
    let line = Line(fields: Array(words[2..<14]), payload: words.count > 15 ? words[15] : "")
    if isSent {
      peers[name]?.connection.sendBytes(try bytes(of: line))
    } else {
      try check(try nextFrame(of: name), line)
    }
  }

  // MARK: Sending

  private func bytes(of line: Line) throws -> [UInt8] {
    var payload = line.isCredit ? try hexadecimal(line.payload) : Array(line.payload.utf8)
    for (name, value) in variables where name.hasPrefix("$") {
      guard case .string(let text) = value, !line.isCredit else { continue }
      payload = Array(
        String(decoding: payload, as: UTF8.self).split(separator: String(name), omittingEmptySubsequences: false)
          .joined(separator: text).utf8)
    }
    var bytes: [UInt8] = []
    for (index, field) in line.fields.enumerated() {
      if index == 0, field.hasPrefix("*") {
        bytes += littleEndian(FrameHeader.lengthMinimum + payload.count)
      } else {
        bytes += try field.hasPrefix("@") ? endpoint(field) : hexadecimal(field)
      }
    }
    return bytes + payload
  }

  private func endpoint(_ name: Substring) throws -> [UInt8] {
    guard case .integer(let number)? = variables[name] else {
      throw DeadlinePassed(description: "\(name) is not known")
    }
    return littleEndian(Int(number))
  }

  private func littleEndian(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  private func hexadecimal(_ text: Substring) throws -> [UInt8] {
    try stride(from: 0, to: text.count, by: 2).map { offset in
      try #require(UInt8(text.dropFirst(offset).prefix(2), radix: 16), "'\(text)' is hexadecimal")
    }
  }

  // MARK: Receiving

  /// The next frame that is not REGISTRY or CREDIT, of which nobody can say when they come.
  private mutating func nextFrame(of name: Substring) throws -> [UInt8] {
    while true {
      let frame = try anyFrame(of: name)
      if frame[5] != FrameType.registry.rawValue && frame[5] != FrameType.credit.rawValue { return frame }
    }
  }

  private mutating func anyFrame(of name: Substring) throws -> [UInt8] {
    while true {
      let input = peers[name]?.input ?? []
      if input.count >= 4 {
        let count = 4 + (0..<4).reduce(0) { $0 | Int(input[$1]) << (8 * $1) }
        if input.count >= count {
          peers[name]?.input.removeFirst(count)
          return Array(input[..<count])
        }
      }
      guard try read(from: name) > 0 else { throw DeadlinePassed(description: "the connection has ended") }
    }
  }

  private mutating func read(from name: Substring) throws -> Int {
    let descriptor = peers[name]?.connection.descriptor ?? -1
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 20_000) > 0 else { throw DeadlinePassed(description: "nothing comes") }
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    let count = Glibc.read(descriptor, &chunk, chunk.count)
    if count > 0 { peers[name]?.input += chunk[..<count] }
    return count
  }

  private mutating func expectEnd(of name: Substring) throws {
    while try read(from: name) > 0 { continue }
    #expect(peers[name]?.input.isEmpty == true, "nothing comes before the end")
  }

  /// Compares byte by byte where the transcript has bytes.
  private mutating func check(_ frame: [UInt8], _ line: Line) throws {
    let payload = Array(frame[FrameHeader.byteCount...])
    if frame[5] == FrameType.welcome.rawValue || line.payload.hasPrefix("{") {
      // An endpoint that stands in JSON has no quotes there: it is a number.
      let quoted = line.payload.split(separator: ",").map { part in
        part.contains(":@")
          ? part.split(separator: ":")[0] + ":\"" + part.split(separator: ":")[1] + "\"" : String(part)
      }
      let expected = try JSONPayload.decode(JSONValue.self, from: Array(quoted.joined(separator: ",").utf8))
      try match(try JSONPayload.decode(JSONValue.self, from: payload), expected, "payload")
    } else {
      #expect(payload == Array(line.payload.utf8), "the payload is \(String(decoding: payload, as: UTF8.self))")
    }
    let names = [
      "length", "version", "type", "flags", "destination", "source", "id", "re", "ttl", "attempt", "method", "trace",
    ]
    var offset = 0
    for (index, width) in [4, 1, 1, 2, 4, 4, 8, 8, 4, 2, 2, 8].enumerated() {
      defer { offset += width }
      let field = line.fields[index]
      if field.hasPrefix("*") { continue }
      let found = Array(frame[offset..<offset + width])
      let expected = try field.hasPrefix("@") ? endpoint(field) : hexadecimal(field)
      guard found != expected else { continue }
      throw DeadlinePassed(
        description: "\(names[index]) is \(found), not \(expected): \(String(decoding: payload, as: UTF8.self))")
    }
  }

  /// Every field that is expected must be there and equal; others may be there. A variable takes the value it meets
  /// first.
  private mutating func match(_ found: JSONValue, _ expected: JSONValue, _ place: String) throws {
    switch (found, expected) {
    case (.object(let found), .object(let expected)):
      for (key, value) in expected {
        try match(try #require(found[key], "\(place).\(key) is missing"), value, "\(place).\(key)")
      }
    case (_, .string(let text)) where text.hasPrefix("@") || text.hasPrefix("$"):
      let name = text[...]
      #expect(variables[name] == nil || variables[name] == found, "\(place) is \(found)")
      variables[name] = found
    default:
      guard found == expected else { throw DeadlinePassed(description: "\(place) is \(found), not \(expected)") }
    }
  }
}
