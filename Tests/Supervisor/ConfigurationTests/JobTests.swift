import Testing

@testable import RoostConfiguration

@Suite("What a provider of jobs serves")
struct JobTests {
  private func provider(_ text: String) throws -> (SupervisorConfiguration, WorkerConfiguration) {
    let configuration = try parse(text)
    return (configuration, try #require(configuration.worker(named: "dvm-provider")))
  }

  private func sent(_ text: String) throws -> [ConfigurationValue] {
    let (configuration, worker) = try provider(text)
    guard case .array(let jobs)? = configuration.settingsSent(to: worker)["jobs"] else { return [] }
    return jobs
  }

  @Test("Without a table it is the two built-in services")
  func standard() throws {
    let jobs = try sent("[worker.dvm-provider]")
    #expect(jobs.map { $0["kind"] } == [.integer(5_302), .integer(5_400)])
    #expect(jobs.map { $0["builtin"] } == [.string("search"), .string("count")])
    let (_, worker) = try provider("[worker.dvm-provider]")
    #expect(worker.sandboxVariables == [:])
    #expect(try parse("[worker.signer]").workers[0].jobs.isEmpty)
  }

  @Test("A table changes one, takes one away, or adds one")
  func tables() throws {
    let text = """
      [worker.dvm-provider]
      customers = ["\(String(repeating: "ab", count: 32))"]
      [worker.dvm-provider.job.5302]
      enabled = false
      [worker.dvm-provider.job.5400]
      program = ["/bin/count", "-v"]
      time = "2s"
      [worker.dvm-provider.job.5001]
      program = ["jobs/shorten"]
      read = ["models", "/srv/x"]
      network = true
      environment = ["A=b=c"]
      """
    let jobs = try sent(text)
    #expect(jobs.map { $0["kind"] } == [.integer(5_001), .integer(5_400)])
    #expect(jobs[1]["program"] == .array([.string("/bin/count"), .string("-v")]))
    #expect(jobs[1]["builtin"] == .string(""))
    #expect(jobs[1]["timeMilliseconds"] == .integer(2_000))
    let (configuration, worker) = try provider(text)
    #expect(worker.sandboxVariables["ROOST_JOB_NETWORK"] == "1")
    #expect(worker.sandboxVariables["ROOST_JOB_PROGRAMS"]?.hasSuffix("/jobs/shorten:/bin/count") == true)
    #expect(worker.sandboxVariables["ROOST_JOB_READ"]?.hasSuffix("/models:/srv/x") == true)
    #expect(try parse(configuration.effective) == configuration)
  }

  @Test("An account is a name or a public key, and nothing that only looks like one")
  func account() {
    for good in ["dvm", "", String(repeating: "ab", count: 32), "npub1" + String(repeating: "q", count: 58)] {
      #expect(complaints(about: "[worker.dvm-provider]\naccount = \"\(good)\"").isEmpty, "\(good)")
    }
    for bad in ["npub1xyz", "nostr:npub1qqqq", "nsec1" + String(repeating: "q", count: 58)] {
      #expect(complaints(about: "[worker.dvm-provider]\naccount = \"\(bad)\"").count == 1, "\(bad)")
    }
  }

  @Test("Two that answer as one account and serve the same kind are refused, by one sentence")
  func twoProviders() {
    let key = String(repeating: "ab", count: 32)
    let second = "[worker.second]\nrole = \"dvm-provider\"\n"
    let none = "[worker.second.job.5302]\nenabled = false\n[worker.second.job.5400]\nenabled = false\n"
    let found = complaints(about: "[worker.dvm-provider]\n" + second)
    #expect(
      found == [
        "supervisor.conf:2: [worker.second] jobs of kind 5302 are already done by [worker.dvm-provider], line 1 as the"
          + " providers' own account: a customer would be answered twice; give one of the two another account, or"
          + " enabled = false for the kind"
      ])
    #expect(complaints(about: "[worker.dvm-provider]\n" + second + "account = \"other\"\n").isEmpty)
    #expect(complaints(about: "[worker.dvm-provider]\n" + second + none).isEmpty)
    let jobs = ["dvm-provider", "second"].map { "[worker.\($0).job.5001]\nprogram = [\"/bin/cat\"]\n" }.joined()
    let own = complaints(about: "[worker.dvm-provider]\n" + second + none + jobs)
    #expect(own.count == 1 && own[0].contains("[worker.second.job.5001] jobs of kind 5001 are already"), "\(own)")
    let accounts = "[worker.dvm-provider]\naccount = \"\(key)\"\n" + second + "account = \"\(key)\"\n"
    #expect(complaints(about: accounts).count == 1)
  }

  @Test("A change of it restarts the worker, and says which key it was")
  func changes() throws {
    let old = try parse("[worker.dvm-provider]")
    let new = try parse(
      "[worker.dvm-provider.job.5400]\ntime = \"2s\"\n[worker.dvm-provider.job.5001]\nprogram = [\"/bin/cat\"]")
    let change = try #require(new.changes(from: old).first { $0.subject == .worker("dvm-provider") })
    #expect(change.kind == .changed(.restartsWorker))
    #expect(change.keys.map(\.name) == ["job.5001", "job.5400.time"])
  }
}
