import Cryptography
import JobTracking
import Nostr
import Testing

@Suite("A job's names") struct NameTests {
  @Test("are its id, its key and its requests, for as long as it is kept, and then nobody's")
  func kept() throws {
    var book = JobTable()
    let (id, other) = (JobID(7), JobID(8))
    let request = Maker().publicKey.description
    let event = try #require(EventID(request))
    book.kept(id, key: "a", requests: [event])
    for name in [id.description, "a", request] { #expect(book.job(named: name) == id) }
    // A key is one job's.
    book.kept(other, key: "a", requests: [])
    #expect(book.job(named: "a") == other && book.job(named: id.description) == nil)
    book.forgotten(id, key: "a", requests: [event])
    #expect(book.job(named: "a") == other && book.job(named: request) == nil)
    book.forgotten(other, key: "a", requests: [])
    for name in [other.description, "a"] { #expect(book.job(named: name) == nil) }
  }

  @Test("are nobody's when it could not be written down")
  func refused() throws {
    let bench = Bench()
    bench.isDiskGood = false
    let job = try bench.text([Maker()], key: "a")
    for name in [job.description, "a"] { #expect(bench.book.job(named: name) == nil) }
  }
}
