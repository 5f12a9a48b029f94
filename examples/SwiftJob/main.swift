internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient

// A job in a few lines: example-job [WORDS]. Has the provider on this machine search what is stored, and prints what it
// has found.
//
// Kill any worker meanwhile, or all of them: the job goes on, and this program waits.

RoostClient.run(ClientSettings(name: "example-job")) { (roost: RoostClient) throws(Refusal) in
  try await roost.connect()
  var search = JobSubmit(kind: 5_302)
  search.params = [["search", CommandLine.arguments.dropFirst().first ?? "hello"]]
  let submitted = try await roost.submit(search)
  var job = submitted
  print("-- \(job.state.rawValue)")
  for try await change in roost.progress(ofJob: submitted.id) {
    // Each change of anything gives the whole job: a provider's remark moves no state.
    if change.state != job.state { print("-- \(change.state.rawValue)") }
    job = change
  }
  guard let result = job.result else {
    throw Refusal(.failed, "no result: \(job.reason ?? job.state.rawValue)", outcome: .done)
  }
  // Kind 6302: a list of tags, one for each event that was found.
  let tags = try JSONPayload.decode([[String]].self, from: result.content.utf8)
  for event in try await roost.events(tags.compactMap { $0.count > 1 && $0[0] == "e" ? EventID($0[1]) : nil }) {
    // Quoted with escapes: the text is a stranger's, and must not drive the terminal.
    print(String(reflecting: String(event.content.prefix(100))))
  }
}
