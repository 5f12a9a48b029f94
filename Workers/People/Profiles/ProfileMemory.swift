public import Cryptography

// The profiles that are held in memory. The store has all of them; this is what makes a look-up cheap.
//
// The order of use is a list through the places of an array, so that a look-up moves one place to the front and nothing
// is allocated for it. What is over the bound is dropped from the end, and is read from the store at the next look-up.

/// The profiles used last, within a bound of bytes; that a person has none is remembered too.
public struct ProfileMemory: Sendable {
  private struct Place: Sendable {
    var key: PublicKey
    /// Nil in a place that is free.
    var profile: StoredProfile?
    var before: Int32
    var after: Int32
  }

  /// No place.
  private static let none: Int32 = -1

  private var places: [Place] = []
  private var free: [Int32] = []
  private var index: [PublicKey: Int32] = [:]
  private var newest = none
  private var oldest = none
  /// The bytes that it takes.
  public private(set) var byteCount = 0
  /// The bytes that it may take; at least the newest entry is kept.
  public var byteMaximum: Int { didSet { shrink() } }

  /// An empty memory.
  public init(byteMaximum: Int) { self.byteMaximum = byteMaximum }

  /// The number of people.
  public var count: Int { index.count }

  /// What is known of a person, who then counts as used last; nil: the store must be asked.
  public mutating func find(_ key: PublicKey) -> StoredProfile? {
    guard let place = index[key] else { return nil }
    if place != newest {
      unlink(place)
      link(place)
    }
    return places[Int(place)].profile
  }

  /// Whether something is known of a person; the order of use stays.
  public func contains(_ key: PublicKey) -> Bool { index[key] != nil }

  /// A profile has come.
  ///
  /// - Returns: whether it is newer than what was known; false also for a person of whom it is known for the first time
  ///   that there is no profile.
  @discardableResult
  public mutating func learned(_ profile: StoredProfile, of key: PublicKey) -> Bool {
    if let place = index[key] {
      guard let known = places[Int(place)].profile, profile.isNewer(than: known) else { return false }
      byteCount += profile.cost - known.cost
      places[Int(place)].profile = profile
      if place != newest {
        unlink(place)
        link(place)
      }
    } else {
      let entry = Place(key: key, profile: profile, before: Self.none, after: Self.none)
      let place: Int32
      if let last = free.popLast() {
        place = last
        places[Int(place)] = entry
      } else {
        place = Int32(places.count)
        places.append(entry)
      }
      index[key] = place
      byteCount += profile.cost
      link(place)
    }
    shrink()
    return profile.isPresent
  }

  /// Drops what is known of a person: it is read from the store again.
  public mutating func forget(_ key: PublicKey) {
    if let place = index[key] { drop(place) }
  }

  /// Drops everything.
  public mutating func forgetAll() { self = ProfileMemory(byteMaximum: byteMaximum) }

  /// Calls a closure with each person, in no order.
  public func forEach(_ body: (PublicKey, StoredProfile) -> Void) {
    for (key, place) in index { if let profile = places[Int(place)].profile { body(key, profile) } }
  }

  private mutating func shrink() {
    while byteCount > byteMaximum, oldest != newest { drop(oldest) }
  }

  private mutating func drop(_ place: Int32) {
    unlink(place)
    let entry = places[Int(place)]
    index[entry.key] = nil
    byteCount -= entry.profile?.cost ?? 0
    // The bytes go now, and not when the place is used again.
    places[Int(place)].profile = nil
    free.append(place)
  }

  private mutating func link(_ place: Int32) {
    (places[Int(place)].before, places[Int(place)].after) = (Self.none, newest)
    if newest != Self.none { places[Int(newest)].before = place }
    newest = place
    if oldest == Self.none { oldest = place }
  }

  private mutating func unlink(_ place: Int32) {
    let (before, after) = (places[Int(place)].before, places[Int(place)].after)
    if before != Self.none { places[Int(before)].after = after } else { newest = after }
    if after != Self.none { places[Int(after)].before = before } else { oldest = before }
  }
}
