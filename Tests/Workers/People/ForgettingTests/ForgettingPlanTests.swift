import Contracts
import Forgetting
import Testing

@Suite struct ForgettingPlanTests {
  private let workers = [
    ForgettingWorker(name: "event-store", role: "event-store", isReady: true),
    ForgettingWorker(name: "outbox-planner", role: "outbox-planner", isReady: true),
    ForgettingWorker(name: "mirror", role: "mirror", isReady: true),
    ForgettingWorker(name: "push-relay", role: "push-relay", isReady: false, isOff: true),
    ForgettingWorker(name: "jobs-b", role: "dvm-provider", isReady: true),
    ForgettingWorker(name: "jobs-a", role: "dvm-provider", isReady: true),
    ForgettingWorker(name: "signer", role: "signer", isReady: true),
  ]

  @Test("Each step follows when the ones before are done, and the key is last")
  func order() {
    var done: Set<String> = []
    var seen: [String] = []
    while true {
      let step = ForgettingPlan.next(.leaving, done: done, workers: workers)
      guard let name = step.name else {
        #expect(step == .end)
        break
      }
      seen.append(name)
      done.insert(name)
    }
    #expect(
      seen == ["relays", "people", "mirror", "jobs-a", "jobs-b", "outbox-planner", "event-store", "key"])
    #expect(ForgettingPlan.passedOver(workers) == ["push-relay"])
  }

  @Test("A worker that does not run is waited for, whichever it is")
  func waiting() {
    for index in workers.indices where Role.withAccountData.contains(where: { $0.name == workers[index].role }) {
      guard !workers[index].isOff else { continue }
      var some = workers
      some[index].isReady = false
      var done: Set<String> = []
      var step = ForgettingPlan.next(.leaving, done: done, workers: some)
      while let name = step.name, done.insert(name).inserted {
        step = ForgettingPlan.next(.leaving, done: done, workers: some)
      }
      #expect(step == .awaitWorker(workers[index].name))
      #expect(!done.contains("key"))
    }
  }

  @Test("An account that was brought back is kept at any step, and one without a key is done")
  func states() {
    for count in 0...7 {
      let done = Set(["relays", "people", "mirror", "jobs-a", "jobs-b", "outbox-planner", "event-store"].prefix(count))
      #expect(ForgettingPlan.next(.kept, done: done, workers: workers) == .giveUp)
      #expect(ForgettingPlan.next(.gone, done: done, workers: workers) == .end)
    }
  }

  @Test("Only the store is asked until nothing is left")
  func completeness() {
    let some = AccountForgotten([AccountForgotten.Part("events", 1)])
    let none = AccountForgotten([AccountForgotten.Part("events", 0)])
    #expect(!ForgettingPlan.isComplete("event-store", some))
    #expect(ForgettingPlan.isComplete("event-store", none))
    #expect(ForgettingPlan.isComplete("mirror", some))
    let parts = [AccountForgotten.Part("a", 1), AccountForgotten.Part("b", 2), AccountForgotten.Part("a", 3)]
    #expect(ForgettingPlan.sum(parts) == [AccountForgotten.Part("a", 4), AccountForgotten.Part("b", 2)])
  }
}
