/// What became of devices while the ledger was read. What was read may be older than what was told since, and a push to
/// a token that its owner has taken away is one too many.
public struct DeviceNews: Sendable {
  private enum News: Sendable {
    case changed(PushDevice)
    case removed
  }

  private var news: [Int64: News] = [:]
  private var readingCount = 0

  /// None.
  public init() {}

  /// Somebody begins to read devices; tells when he has handed in what he found.
  public mutating func readingBegan() { readingCount += 1 }

  /// Somebody has read.
  public mutating func readingEnded() {
    readingCount -= 1
    if readingCount == 0 { news = [:] }
  }

  /// A device registered again.
  public mutating func changed(_ device: PushDevice) {
    if readingCount > 0 { news[device.number] = .changed(device) }
  }

  /// A device is none any more.
  public mutating func removed(_ device: Int64) {
    if readingCount > 0 { news[device] = .removed }
  }

  /// Devices that were read, as they are now.
  public func current(_ devices: [PushDevice]) -> [PushDevice] {
    if news.isEmpty { return devices }
    return devices.compactMap { device in
      switch news[device.number] {
      case nil: device
      case .removed?: nil
      case .changed(let known)?: known.registeredAt >= device.registeredAt ? known : device
      }
    }
  }
}
