import EventArchive

/// The archive's numbers for relays. New ones are written with the first batch that uses them.
struct RelayNumbers {
  private var numbers: [String: Int64] = [:]
  private var urls: [Int64: String] = [:]
  private var last: Int64 = 0
  /// Not yet written.
  private(set) var unwritten: [RelayNumber] = []

  /// Most relays that get a number; of those beyond it is not recorded what they had.
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

  mutating func number(of url: String) -> Int64? {
    if let number = numbers[url] { return number }
    guard numbers.count < Self.maximum else { return nil }
    last += 1
    numbers[url] = last
    urls[last] = url
    unwritten.append(RelayNumber(number: last, url: url))
    return last
  }

  mutating func wrote(_ written: [RelayNumber]) { unwritten.removeFirst(written.count) }
}
