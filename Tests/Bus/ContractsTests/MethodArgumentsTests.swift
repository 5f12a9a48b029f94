import Contracts
import Frames
import Testing

@Suite("The arguments of methods")
struct MethodArgumentsTests {
  static let types: [any MethodArguments.Type] = [
    RelayRequest.self, RelayPublish.self, RelayInformationRequest.self, RelayRetry.self,
    StoreQuery.self, StoreObserve.self, StoreSeen.self, PlanPublish.self, PlanReplaced.self,
    StoreAcknowledge.self, StoreFetched.self, StoreCoverage.self, ReconcileOpen.self, ReconcileClose.self,
    SignerSign.self,
    SignerAuthenticate.self, SignerCipher.self, SignerWrap.self, SignerUnwrap.self, SignerGenerate.self,
    SignerImport.self, SignerUnlock.self, SignerLock.self, SignerPassphrase.self, SignerRemove.self, NoArguments.self,
    StatusRequest.self, WorkerCommand.self, StopCommand.self, HoldCommand.self, AttachRequest.self, ReloadRequest.self,
    JobSubmit.self, JobList.self, JobReference.self, JobProviders.self, ServedJobs.self,
    LogsRequest.self, LogLevelRequest.self, WhyRequest.self, DeadLettersRequest.self, RecordRequest.self,
  ]

  @Test("name in their example every field of the type, and the example can be read", arguments: types.indices)
  func examples(index: Int) throws {
    func check<Arguments: MethodArguments>(_ type: Arguments.Type) throws {
      let json = Array(Arguments.example.utf8)
      let value = try Arguments(of: "a.method", json: json)
      let fields = Mirror(reflecting: value).children.compactMap(\.label)
      guard case .object(let members) = try JSONPayload.decode(JSONValue.self, from: json) else {
        Issue.record("\(type): \(Arguments.example)")
        return
      }
      #expect(Set(fields) == Set(members.keys), "\(type)")
    }
    try check(Self.types[index])
  }

  @Test("A name that no letter leads to the right one is told it all the same")
  func misnomer() {
    let told = refusal(JobReference.self, #"{"id":"mine"}"#)?.message
    #expect(told?.hasPrefix("a.method has no argument 'id'; did you mean 'job'?") == true)
  }

  private func refusal<Arguments: MethodArguments>(
    _ type: Arguments.Type, _ json: String, isRaw: Bool = false
  ) -> Refusal? {
    do throws(Refusal) {
      _ = try Arguments(of: "a.method", json: Array(json.utf8), isRaw: isRaw)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "that no method has, or of the wrong form, are refused with the place, what is expected, and the example",
    arguments: [
      (#"{"filter":[{}]}"#, "a.method has no argument 'filter'; did you mean 'filters'?"),
      (#"{"limt":3}"#, "a.method has no argument 'limt'; did you mean 'limit'?"),
      (#"{"authors":["x"]}"#, "a.method has no argument 'authors'"),
      (#"{"limit":-1}"#, "'limit' is -1; a whole number from 0 is expected"),
      (#"{"limit":"5"}"#, "'limit' is not a whole number in its range"),
      (#"{"limit":1.5}"#, "a number in it is not a whole number in its range"),
      (#"{"limit":99999999999999999999}"#, "a number in it is not a whole number in its range"),
      (#"{"filters":{"kinds":[1]}}"#, "'filters' is not a list"),
      (#"{"relay":7}"#, "'relay' is not a text"),
      (#"{"limit":1,"limit":2}"#, "'limit' is there twice"),
      (#"{"filters":[{"kinds":[1],"\u006binds":[2]}]}"#, "'filters[0].kinds' is there twice"),
      (
        ##"{"filters":[{},{"#t":["a","\ud800"]}]}"##,
        "'filters[1].#t[1]' has \\ud800, which is half of a surrogate pair and no character"
      ),
      ("[{}]", "the arguments of a.method are one JSON object"),
      (#""ws://relay""#, "the arguments of a.method are one JSON object"),
      ("null", "the arguments of a.method are one JSON object"),
    ])
  func wrong(json: String, message: String) {
    let refusal = refusal(RelayRequest.self, json)
    #expect(refusal?.code == .badRequest && refusal?.outcome == .notStarted)
    #expect(refusal?.message == message + "\nas in: a.method '\(RelayRequest.example)'")
  }

  @Test("that are no JSON, or RAW, are a bad payload; nothing at all counts as no arguments")
  func unreadable() {
    #expect(refusal(RelayRequest.self, "filters").map(\.code) == .badPayload)
    #expect(refusal(RelayRequest.self, #"{"limit":5"#).map(\.code) == .badPayload)
    #expect(refusal(RelayRequest.self, "{}", isRaw: true).map(\.code) == .badPayload)
    #expect(refusal(RelayRequest.self, "") == nil)
    #expect(refusal(RelayRequest.self, #"{"relay":null,"limit":0}"#) == nil)
  }

  @Test("of a method that takes none, or that lack one, are told so")
  func others() {
    let stranger = refusal(NoArguments.self, #"{"relay":"x"}"#)
    #expect(stranger?.message.hasPrefix("a.method has no argument 'relay': it takes none") == true)
    let missing = refusal(StoreQuery.self, "{}")
    #expect(missing?.message.hasPrefix("'filters' is missing\nas in: ") == true && missing?.code == .badRequest)
    let negative = refusal(StoreObserve.self, #"{"filters":[{}],"afterSeq":-4}"#)
    #expect(negative?.message.hasPrefix("'afterSeq' is -4") == true)
    let endless = refusal(RelayRequest.self, #"{"\#(String(repeating: "x", count: 100_000))":1}"#)
    #expect(endless.map { $0.message.count < 400 } == true)
  }
}
