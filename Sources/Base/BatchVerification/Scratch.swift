/// Memory for values that one computation writes before it reads them. It grows and is freed with its owner.
struct Scratch<Value: BitwiseCopyable>: ~Copyable {
  /// The first value. Its owner keeps indices below what it reserved.
  private(set) var base: UnsafeMutablePointer<Value>
  private var capacity: Int

  init() {
    capacity = 64
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  /// Makes room for `count` values. Earlier values are lost if there was less room.
  mutating func reserve(_ count: Int) {
    if count <= capacity { return }
    base.deallocate()
    capacity = max(count, 2 * capacity)
    base = .allocate(capacity: capacity)
  }
}
