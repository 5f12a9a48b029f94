import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Nostr
import OutboxRouting

// Other people's lists: those that the store lacks are requested from indexers and from the relays that are used for
// reading, and come by way of the store.

/// A request for lists.
struct LookUp {
  let people: [PublicKey]
  /// When it is given up.
  let until: Instant
}

extension Planner {
  /// Requests for lists that are out at a time.
  private static let lookUpMaximum = 2
  /// How long relays may take to send lists.
  private static let lookUpMilliseconds: UInt64 = 30_000
  /// How often it is checked whose lists are to be requested again.
  private static let lookUpAgainMilliseconds: UInt64 = 60_000
  /// After how many seconds people are asked for again if no relay could be asked.
  private static let lookUpRetrySeconds: Int64 = 600

  // MARK: Interests

  /// Relays are asked for this from now on.
  ///
  /// - Parameters:
  ///   - interest: what it is.
  ///   - trace: the trace of the request that it is for.
  func begin(_ interest: Interest, trace: RequestTrace? = nil) {
    traces[interest.key] = trace ?? traces[interest.key]
    directory.want(interest)
    wishes.wished(interest, in: directory, at: now, wall: WallClock.seconds)
  }

  /// Relays are no longer asked for what has this name.
  func end(_ key: String) {
    traces[key] = nil
    directory.unwant(key)
    wishes.ended(key, at: now, wall: WallClock.seconds)
  }

  // MARK: Lists

  func wereRead(_ people: [PublicKey]) {
    directory.book.wereRead(people)
    isLookUpDue = true
    update()
  }

  /// The store has said where these events may be.
  func eventsWereRead(_ ids: [EventID]) {
    directory.events.wereRead(ids)
    wishes.replan(Set(ids), in: &directory, at: now, wall: WallClock.seconds)
    update()
  }

  /// Requests the lists that are due, and ends the requests that were answered.
  func lookUpLists() {
    guard directory.autopilot, !isEarly else { return }
    for (key, lookUp) in lookUps where wishes.progress(of: key)?.isComplete != false || now >= lookUp.until {
      let isAnswered = wishes.progress(of: key)?.relays.contains { $0.state == .stored } ?? false
      if isAnswered {
        directory.book.wereAnswered(lookUp.people)
      } else {
        let asked = WallClock.seconds - AuthorBook.againSeconds + Self.lookUpRetrySeconds
        directory.book.wereAsked(lookUp.people, at: asked)
      }
      lookUps[key] = nil
      arrivalEnd = now.advanced(milliseconds: Self.arrivalMilliseconds)
      arrivalTimer.set(at: arrivalEnd) { [unowned self] in update() }
      end(key)
      areNamesDue = true
    }
    while isLookUpDue, lookUps.count < Self.lookUpMaximum {
      let people = directory.book.due(at: WallClock.seconds)
      let relays = lookUpRelays
      guard !people.isEmpty, !relays.isEmpty else {
        isLookUpDue = false
        break
      }
      directory.book.wereAsked(people, at: WallClock.seconds)
      listWishCount += 1
      let wish = Interest(
        own: "lists:\(listWishCount)", [Filter(authors: people, kinds: AuthorListReader.kinds)], named: relays,
        isExclusive: true, isLive: false)
      lookUps[wish.key] = LookUp(people: people, until: now.advanced(milliseconds: Self.lookUpMilliseconds))
      begin(wish)
    }
    guard !lookUpTimer.isSet else { return }
    lookUpTimer.set(afterMilliseconds: lookUps.isEmpty ? Self.lookUpAgainMilliseconds : Self.lookUpMilliseconds) {
      [unowned self] in
      (isLookUpDue, areNamesDue) = (true, true)
      directory.visitsMayBeDue()
      update()
    }
  }
}
