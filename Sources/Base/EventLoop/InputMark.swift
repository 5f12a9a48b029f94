/// A number that is in memory while one client's input is processed.
///
/// In a mapped file, it shows after a crash whose input was being processed. Costs two stores.
@EventLoopActor
public struct InputMark {
  private let place: UnsafeMutablePointer<UInt32>
  private let number: UInt32

  /// - Parameters:
  ///   - place: where the number is written; must outlive all use of the mark.
  ///   - number: the number to write.
  public init(at place: UnsafeMutablePointer<UInt32>, number: UInt32) {
    self.place = place
    self.number = number
  }

  /// Runs `body` with the number in place, and restores the previous number: processing one input may cause the
  /// processing of another.
  @inline(__always)
  public func noted<Value>(_ body: () -> Value) -> Value {
    let before = place.pointee
    place.pointee = number
    defer { place.pointee = before }
    return body()
  }
}
