/// A number that stands in memory while somebody's input is worked on.
///
/// In a file that is mapped, it is there for whoever asks after a crash whose input it was. Costs two stores.
@EventLoopActor
public struct InputMark {
  private let place: UnsafeMutablePointer<UInt32>
  private let number: UInt32

  /// - Parameters:
  ///   - place: outlives all use of the mark.
  ///   - number: what stands there meanwhile.
  public init(at place: UnsafeMutablePointer<UInt32>, number: UInt32) {
    self.place = place
    self.number = number
  }

  /// Does `body` with the number in its place, and puts back what stood there: work on one input may bring forth work
  /// on another.
  @inline(__always)
  public func noted<Value>(_ body: () -> Value) -> Value {
    let before = place.pointee
    place.pointee = number
    defer { place.pointee = before }
    return body()
  }
}
