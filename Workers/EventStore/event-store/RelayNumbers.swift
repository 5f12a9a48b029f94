import EventArchive
import EventLoop

/// The archive's numbers for relays. New ones are written with the first batch that uses them.
@EventLoopActor
final class RelayNumbers {
  private var numbers: [String: Int64] = [:]
  private var urls: [Int64: String] = [:]
  private var last: Int64 = 0
  /// Numbers that are not written yet.
  private(set) var unwritten: [RelayNumber] = []

  /// Most relays that get a number. The archive does not record which events came from a relay beyond them.
  static let maximum = 65_536

  init(_ known: [RelayNumber]) {
    for relay in known {
      numbers[relay.url] = relay.number
      urls[relay.number] = relay.url
      last = max(last, relay.number)
    }
  }

  /// The number of a relay that has one.
  func known(_ url: String) -> Int64? { numbers[url] }

  func url(of number: Int64) -> String? { urls[number] }

  /// The number of a relay, which gets one if it has none; nil when no number is left.
  func number(of url: String) -> Int64? {
    if let number = numbers[url] { return number }
    guard numbers.count < Self.maximum else { return nil }
    last += 1
    numbers[url] = last
    urls[last] = url
    unwritten.append(RelayNumber(number: last, url: url))
    return last
  }

  func wrote(_ written: [RelayNumber]) { unwritten.removeFirst(written.count) }
}
