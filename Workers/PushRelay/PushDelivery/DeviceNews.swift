/// Changes of devices while the ledger is being read. What was read may be older than a reported change, and no push
/// may go to a token that its owner has removed.
public struct DeviceNews: Sendable {
  private enum News: Sendable {
    case changed(PushDevice)
    case removed
  }

  private var news: [Int64: News] = [:]
  private var readingCount = 0

  /// No changes.
  public init() {}

  /// A read of devices begins; it ends when its results were handed in.
  public mutating func readingBegan() { readingCount += 1 }

  /// A read of devices has ended.
  public mutating func readingEnded() {
    readingCount -= 1
    if readingCount == 0 { news = [:] }
  }

  /// A device registered again.
  public mutating func changed(_ device: PushDevice) {
    if readingCount > 0 { news[device.number] = .changed(device) }
  }

  /// A device was removed.
  public mutating func removed(_ device: Int64) {
    if readingCount > 0 { news[device] = .removed }
  }

  /// Devices that were read, in their present state.
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
