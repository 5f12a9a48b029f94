import Contracts
import Cryptography
import Glibc
import JobLedger
import JobTracking
import Nostr
import Storage

// What jobs cost their tracker, without processes.
//
//     job-bench DIRECTORY COUNT
//
// Fills a ledger with so many jobs under way, each with its request and a first sign of a provider; then prints as JSON
// how long a start takes until all of them are looked at, and how many answers a second go through machine and ledger.

struct Bench {
  let path: String
  let count: Int
  let provider = SecretKey.generate()
  let customer = SecretKey.generate()
  let start: Int64 = 1_800_000_000_000

  static func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func order(_ number: Int) -> JobOrder? {
    var submit = JobSubmit(kind: 5_050)
    submit.key = "job \(number)"
    submit.inputs = [JobInputArgument(data: "what is the time in place number \(number)?", type: "text")]
    submit.params = [["lang", "en"], ["model", "the usual one"]]
    submit.providers = [provider.publicKey.description]
    submit.turns = .all
    submit.reach = .relays
    submit.payment = JobSubmit.Payment(mode: .ask)
    submit.deadlines = PhaseSeconds().said
    return JobOrder(id: JobID(UInt64(number + 1)), account: customer.publicKey, submittedAt: start, submit: submit)
  }

  private func request(_ order: JobOrder) throws -> Event? {
    try order.terms(for: order.providers, feeds: [:])?
      .template(by: customer.publicKey, createdAt: start / 1_000, ciphertext: nil).signed(by: customer)
  }

  /// The requests of all jobs, which are in the ledger then.
  func fill() throws -> [Event] {
    let ledger = try JobLedger(path: path)
    var requests: [Event] = []
    for first in stride(from: 0, to: count, by: 1_000) {
      var batch = JobBatch(number: 1)
      for number in first..<min(count, first + 1_000) {
        guard let order = order(number), let event = try request(order) else { continue }
        requests.append(event)
        batch.accepted.append(order)
        let made = JobRequestFact(attempt: 0, id: event.id, createdAt: event.createdAt, json: event.json)
        for (index, what) in [
          .attempted(0, order.providers), .requested(made), .stored(event.id),
          .relayed(event.id, confirmed: 1, of: 2), .relayed(event.id, confirmed: 2, of: 2),
        ].enumerated() as EnumeratedSequence<[JobFact.What]> {
          batch.entries.append(JobBatch.Entry(job: order.id, fact: JobFact(at: start + Int64(index) + 1, what)))
        }
        batch.standings[order.id] = JobBatch.Standing(state: .published, endedAt: nil)
      }
      try ledger.writeNow(batch)
    }
    try ledger.close()
    return requests
  }

  /// Milliseconds from nothing to a book that has looked at all its jobs.
  func restore() throws -> (milliseconds: Double, book: JobTable, ledger: JobLedger) {
    let began = Self.seconds()
    let (ledger, contents, _) = try JobLedger.openOrRescue(path: path, now: start)
    var book = JobTable(limits: TrackingLimits())
    for job in contents.open { book.restored(job.order, job.facts) }
    _ = book.began(at: start + 1_000)
    precondition(book.count == count, "all jobs are there")
    return ((Self.seconds() - began) * 1_000, book, ledger)
  }

  /// Answers a second, in steps as the store sends them.
  func answers(_ requests: [Event], _ book: inout JobTable, _ ledger: JobLedger) throws -> Double {
    let events = try requests.map { event in
      try JobRequest(event).feedbackTemplate(.processing, by: provider.publicKey, createdAt: start / 1_000 + 1)
        .signed(by: provider)
    }
    let began = Self.seconds()
    var seq: Int64 = 0
    for first in stride(from: 0, to: events.count, by: 500) {
      let step = Array(events[first..<min(events.count, first + 500)])
      seq += Int64(step.count)
      try write(book.received(step, cursor: seq, at: start + 2_000), &book, ledger)
    }
    return Double(events.count) / (Self.seconds() - began)
  }

  private func write(_ actions: [JobAction], _ book: inout JobTable, _ ledger: JobLedger) throws {
    for case .write(let batch) in actions {
      try ledger.writeNow(batch)
      try write(book.written(batch.number, at: start + 2_000), &book, ledger)
    }
  }
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let count = Int(arguments[2]), count > 0 else {
  print("usage: job-bench DIRECTORY COUNT")
  exit(2)
}
let bench = Bench(path: arguments[1] + "/jobs.db", count: count)
let requests = try bench.fill()
var (milliseconds, book, ledger) = try bench.restore()
let rate = try bench.answers(requests, &book, ledger)
try ledger.close()
print("{\"jobs\":\(count),\"restore_ms\":\(milliseconds),\"answers_per_s\":\(rate)}")
