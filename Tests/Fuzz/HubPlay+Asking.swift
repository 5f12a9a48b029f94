// What parties of the hub fuzz ask of each other, and what nobody may send.
import Clocks
import Contracts
import Frames

@testable import MessageHub

extension Play {
  mutating func ask(_ seat: SeatIndex, isEvent: Bool) {
    let flavour = choices.byte()
    let header = FrameHeader(
      type: isEvent ? .event : .request, flags: flags(flavour, isEvent), destination: destination(flavour >> 3),
      id: nextId(of: seat), ttlMilliseconds: flavour & 4 == 0 ? 0 : UInt32(choices.byte()), method: method(isEvent))
    guard model.parties[seat]?.maySend == true else { return }
    model.send(header, model.numbered(filling: choices.byte() % 64), from: seat)
  }

  func flags(_ flavour: Int, _ isEvent: Bool) -> FrameFlags {
    var flags: FrameFlags = flavour & 1 == 0 ? [] : .atMostOnce
    if isEvent && flavour & 2 == 0 { flags.insert(.needsAck) }
    return flags
  }

  mutating func destination(_ kind: Int) -> Endpoint {
    switch kind % 8 {
    case 0: Endpoint(role: UInt16(choices.below(70)))
    case 1: Endpoint(rawValue: UInt32(truncatingIfNeeded: choices.wide()))
    case 2, 3: places[choices.below(places.count)].seat.map { model.hub.endpoint(of: $0) } ?? .hub
    case 4: Endpoint(seat: 1 + choices.below(10), turn: UInt32(choices.below(5)))
    default: .hub
    }
  }

  mutating func method(_ isEvent: Bool) -> UInt16 {
    let some = isEvent ? methodNumbers + topicNumbers + topicNumbers : methodNumbers
    return some[choices.below(some.count)]
  }

  func nextId(of seat: SeatIndex) -> UInt64 { (model.parties[seat]?.lastId ?? 0) + 1 }

  mutating func cancel(_ seat: SeatIndex) {
    // In order: the iteration of a dictionary differs from one run to the next.
    let open = model.parties[seat]?.open.keys.sorted() ?? []
    guard !open.isEmpty else { return }
    model.send(FrameHeader(type: .cancel, re: open[choices.below(open.count)]), from: seat)
  }

  mutating func subscribe(_ seat: SeatIndex) {
    let flavour = choices.byte()
    guard model.parties[seat]?.maySend == true else { return }
    let topic = topicNumbers[flavour % topicNumbers.count]
    let type: FrameType = flavour & 128 == 0 ? .subscribe : .unsubscribe
    model.send(FrameHeader(type: type, id: nextId(of: seat), method: topic), from: seat)
  }

  /// Any type, any fields, whether allowed or not.
  mutating func anything(_ seat: SeatIndex) {
    let type = FrameType.allCases[choices.below(FrameType.allCases.count)]
    let flags = FrameFlags(rawValue: UInt16(choices.byte())).intersection(.known)
    var header = FrameHeader(
      type: type, flags: flags, destination: destination(choices.byte()), id: UInt64(choices.byte()),
      re: UInt64(choices.byte()), ttlMilliseconds: UInt32(choices.byte()), attempt: UInt16(choices.below(4)),
      method: choices.byte() < 200 ? method(true) : UInt16(truncatingIfNeeded: choices.wide()))
    if choices.byte() > 240 { header.source = Endpoint(rawValue: UInt32(choices.byte())) }
    var payload = model.numbered(filling: choices.below(40))
    // A part, progress or an end with bytes of its own could not be told from a right one.
    if [.response, .error, .progress].contains(type) { header.attempt = 9_999 }
    if type == .credit {
      payload = (0..<choices.below(20)).map { _ in 0xFF }
      if let credit = payload.withUnsafeBytes({ Credit($0) }), header.source == .hub {
        model.parties[seat]?.granted = credit
      }
    }
    // It acknowledges, or takes back, what it knows nothing of; a worker that does that to its own mail has done with
    // it.
    if type == .ack || type == .nack { header.attempt = 9_999 }
    if type == .ready && header.source == .hub { model.parties[seat]?.isReady = true }
    model.sendAnything(header, payload, from: seat)
  }
}

let methodNumbers: [UInt16] = [
  256, 257, 258, 1, 8, AccessTable.firstCustomNumber, AccessTable.firstCustomNumber + 1,
]
let supervisorTopic: UInt16 = 32
let topicNumbers = accessTable.all.filter { $0.kind == .topic }.map(\.number)
