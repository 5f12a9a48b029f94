// What parties of the hub fuzz take and answer, rightly and wrongly.
import Clocks
import Contracts
import Frames

@testable import MessageHub

extension Play {
  mutating func take(_ place: Int) {
    guard let seat = speaker(place) else { return }
    for _ in 0..<(1 + choices.below(4)) { takeOne(seat) }
    if choices.byte() & 1 == 0 { grant(seat, more: 0) }
  }

  func takeOne(_ seat: SeatIndex) {
    guard model.parties[seat]?.inbox.isEmpty == false, let mail = model.parties[seat]?.inbox.removeFirst() else {
      return
    }
    if mail.header.type.spendsCredit(flags: mail.header.flags) {
      model.parties[seat]?.taken.frames += 1
      model.parties[seat]?.taken.bytes += UInt64(mail.payload.count)
    }
    model.see(mail, at: seat)
    let awaitsAnswer =
      mail.header.type == .request || (mail.header.type == .event && mail.header.flags.contains(.needsAck))
    if awaitsAnswer { model.parties[seat]?.hand.append(mail) }
  }

  mutating func grant(_ seat: SeatIndex) { grant(seat, more: choices.byte()) }

  func grant(_ seat: SeatIndex, more: Int) {
    guard let party = model.parties[seat], !party.isCut else { return }
    let total = Credit(
      frames: max(party.granted.frames, party.window.frames &+ party.taken.frames &+ UInt64(more & 7)),
      bytes: max(party.granted.bytes, party.window.bytes &+ party.taken.bytes &+ UInt64(more)))
    model.parties[seat]?.granted = total
    model.send(FrameHeader(type: .credit), total.payload, from: seat)
  }

  /// Moves one piece of what is in hand on, or finishes it.
  mutating func work(_ seat: SeatIndex, _ choice: Int) {
    guard let party = model.parties[seat], !party.hand.isEmpty else { return }
    let index = choices.below(party.hand.count)
    let mail = party.hand[index]
    if mail.header.type == .event {
      let delay = choice == 13 ? UInt32(choices.byte()) : 0
      model.parties[seat]?.past.append(party.hand[index])
      model.parties[seat]?.hand.remove(at: index)
      return answer(mail, choice < 15 ? .nack : .ack, [], ttl: delay, from: seat)
    }
    switch choice {
    case 13, 14:
      guard party.maySend else { return }
      model.parties[seat]?.hand[index].parts += 1
      answer(mail, .response, HubModel.answer(to: mail), flags: .more, from: seat)
    case 15:
      guard party.maySend else { return }
      answer(mail, .progress, Array("{}".utf8), from: seat)
    case 16: answer(mail, .ack, [], from: seat)
    default:
      model.parties[seat]?.past.append(mail)
      model.parties[seat]?.hand.remove(at: index)
      let isError = choice == 17
      answer(mail, isError ? .error : .response, isError ? [] : HubModel.answer(to: mail), from: seat)
    }
  }

  func answer(
    _ mail: Held, _ type: FrameType, _ payload: [UInt8], flags: FrameFlags = [], ttl: UInt32 = 0, from seat: SeatIndex
  ) {
    let header = FrameHeader(
      type: type, flags: flags, destination: mail.header.source, re: mail.header.id, ttlMilliseconds: ttl,
      attempt: mail.header.attempt, method: mail.header.method)
    model.send(header, payload, from: seat)
  }

  /// An answer a second time, to another attempt, or to somebody else: it must reach nobody.
  mutating func answerWrongly(_ seat: SeatIndex) {
    let flavour = choices.byte()
    guard let party = model.parties[seat], model.hub.seats[seat].isWorker else { return }
    let isSecond = flavour & 1 == 0
    let some = isSecond ? party.past : party.past + party.hand
    guard !some.isEmpty else { return }
    var mail = some[choices.below(some.count)]
    if !isSecond { mail.header.attempt &+= 1_000 }
    if flavour & 2 != 0 { mail.header.source = Endpoint(seat: 11, turn: 900) }
    let isPart = flavour & 4 != 0 && party.maySend
    let types: [FrameType] = [.response, .error, .ack, .nack]
    let type = isPart ? .response : types[flavour >> 3 & 3]
    answer(mail, type, HubModel.forgery, flags: isPart ? .more : [], from: seat)
  }
}
