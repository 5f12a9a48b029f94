import Cryptography
import Profiles
import Testing

/// Which caller gets what.
@Suite("Readers of profiles")
struct ProfileReadersTests {
  private let keys = (1...6).compactMap { PublicKey(String(repeating: "0", count: 63) + "\($0)") }

  @Test("All people are read at once, a change once more, and a request that is not live ends when all are asked")
  func once() {
    var readers = ProfileReaders()
    let reader = readers.opened(Array(keys[0..<3]), isLive: false)
    readers.pending([keys[1]], of: reader)
    #expect(readers.next(reader, maximum: 2) == .read(Array(keys[0..<2])))
    #expect(readers.next(reader, maximum: 2) == .read([keys[2]]))
    #expect(readers.next(reader, maximum: 2) == .wait)
    #expect(readers.tells(reader, of: keys[0], isPresent: false, version: 0) == true, "no relay is asked for it")
    #expect(readers.tells(reader, of: keys[1], isPresent: false, version: 0) == false, "relays are being asked")
    #expect(readers.asked([keys[1], keys[2]], failure: nil) == [reader])
    #expect(readers.next(reader, maximum: 2) == .read([keys[1]]))
    #expect(readers.tells(reader, of: keys[1], isPresent: false, version: 0) == true)
    #expect(readers.next(reader, maximum: 2) == .asked(count: 1, failed: 0, reason: nil))
    #expect(readers.next(reader, maximum: 2) == .end)
    readers.closed(reader)
    #expect(readers.count == 0 && readers.keyCount == 0 && !readers.watches(keys[0]))
    #expect(readers.next(reader, maximum: 1) == .end)
  }

  @Test("A change goes to those who watch the person, two changes are one, and nothing of one caller is another's")
  func live() {
    var readers = ProfileReaders()
    let one = readers.opened([keys[0], keys[1]], isLive: true)
    let two = readers.opened([keys[1], keys[2]], isLive: true)
    for reader in [one, two] {
      _ = readers.next(reader, maximum: 10)
      #expect(readers.next(reader, maximum: 10) == .asked(count: 0, failed: 0, reason: nil))
      #expect(readers.next(reader, maximum: 10) == .wait)
    }
    #expect(readers.changed(keys[0]) == [one])
    #expect(Set(readers.changed(keys[1])) == [one, two])
    #expect(Set(readers.changed(keys[1])) == [one, two])
    #expect(readers.changed(keys[5]).isEmpty)
    #expect(readers.next(one, maximum: 10) == .read([keys[0], keys[1]]))
    #expect(readers.next(one, maximum: 10) == .wait)
    readers.closed(one)
    #expect(readers.changed(keys[1]) == [two])
    #expect(readers.changed(keys[0]).isEmpty)
    #expect(readers.next(two, maximum: 10) == .read([keys[1]]), "what was due before is due once")
  }

  @Test("A person whose profile came while relays were asked is not read again at their end")
  func came() {
    var readers = ProfileReaders()
    let reader = readers.opened([keys[0]], isLive: false)
    readers.pending([keys[0]], of: reader)
    _ = readers.next(reader, maximum: 1)
    #expect(readers.tells(reader, of: keys[0], isPresent: false, version: 0) == false)
    #expect(readers.changed(keys[0]) == [reader])
    #expect(readers.next(reader, maximum: 1) == .read([keys[0]]))
    #expect(readers.tells(reader, of: keys[0], isPresent: true, version: 7) == true)
    #expect(readers.tells(reader, of: keys[0], isPresent: true, version: 7) == false, "it was sent")
    #expect(readers.tells(reader, of: keys[0], isPresent: true, version: 8) == true)
    #expect(readers.asked([keys[0]], failure: nil) == [reader])
    #expect(readers.next(reader, maximum: 1) == .asked(count: 1, failed: 0, reason: nil))
  }

  @Test("People for whom there was no room are due again, for this request only")
  func again() {
    var readers = ProfileReaders()
    let one = readers.opened([keys[0], keys[1]], isLive: false)
    let two = readers.opened([keys[1]], isLive: true)
    for reader in [one, two] { _ = readers.next(reader, maximum: 10) }
    readers.again([keys[1]], of: one)
    #expect(readers.next(one, maximum: 10) == .read([keys[1]]))
    #expect(readers.next(two, maximum: 10) == .asked(count: 0, failed: 0, reason: nil))
  }

  @Test("People for whom relays could not be asked are counted, with the reason")
  func failed() {
    var readers = ProfileReaders()
    let reader = readers.opened(Array(keys[0..<3]), isLive: false)
    readers.pending(Array(keys[0..<3]), of: reader)
    _ = readers.next(reader, maximum: 10)
    _ = readers.asked([keys[0]], failure: nil)
    _ = readers.asked([keys[1], keys[2]], failure: "away")
    #expect(readers.next(reader, maximum: 10) == .read(Array(keys[0..<3])))
    #expect(readers.next(reader, maximum: 10) == .asked(count: 1, failed: 2, reason: "away"))
  }

  @Test("Requests and their people have a bound")
  func bounds() {
    var readers = ProfileReaders()
    #expect(readers.hasRoom(for: ProfileReaders.keyMaximum) && !readers.hasRoom(for: ProfileReaders.keyMaximum + 1))
    for _ in 0..<ProfileReaders.countMaximum { _ = readers.opened([keys[0]], isLive: true) }
    #expect(!readers.hasRoom(for: 1))
    #expect(readers.changed(keys[0]).count == ProfileReaders.countMaximum)
  }
}
