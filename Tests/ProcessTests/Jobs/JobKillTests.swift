import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  @Suite("Jobs through deaths") struct JobKillTests {
    /// The steps of a job's life behind each of which somebody dies.
    enum Step: CaseIterable {
      case submitted, published, processing, asked, delivered, approved, paid, settled
    }

    /// When a provider wants its money.
    enum Terms: CaseIterable {
      case payFirst, payBehind

      var steps: [Step] { Step.allCases.filter { $0 != (self == .payFirst ? .delivered : .asked) } }
    }

    @Test(
      "Whoever dies at whatever step of a job's life, it comes to the same end, and nobody is asked or paid twice",
      arguments: ["dvm-tracker", "event-store", "outbox-planner", "signer"])
    func everyStep(victim: String) throws {
      try JobRig.run { rig in try Self.liveEach(&rig, .payFirst) { rig in try rig.kill(victim) } }
    }

    @Test(
      "So it does when the supervisor dies, or everything at once, whether the provider wants its money before or behind",
      arguments: Terms.allCases, [false, true])
    func everything(terms: Terms, isEverything: Bool) throws {
      try JobRig.run { rig in
        try Self.liveEach(&rig, terms) { rig in try rig.killDaemon(withWorkers: isEverything) }
      }
    }

    private static func liveEach(
      _ rig: inout JobRig, _ terms: Terms, _ kill: (inout JobRig) throws -> Void
    ) throws {
      for step in terms.steps {
        let told = try live(&rig, terms, JobMaker(), dyingBehind: step, kill)
        #expect(told.state == .settled && told.result?.content == "noon" && told.reason == nil, "\(step): \(told)")
        #expect(told.requests.count == 1 && told.providers.first?.payment == .paid, "\(step)")
        #expect(told.diagnostics.isEmpty, "\(step): \(told.diagnostics)")
      }
      let status = try rig.ask("job.status", NoArguments(), as: TrackingStatus.self)
      #expect(status.jobs == ["settled": terms.steps.count])
      #expect(status.approvedToday == Int64(terms.steps.count) * 5_000)
    }

    private static func live(
      _ rig: inout JobRig, _ terms: Terms, _ maker: JobMaker, dyingBehind dying: Step,
      _ kill: (inout JobRig) throws -> Void
    ) throws -> Job {
      let bill = try PayableInvoice(5_000)
      let job = try rig.submit(maker.job(relay: rig.relay))
      if dying == .submitted { try kill(&rig) }
      let request = try rig.request(job)
      try rig.await(job, "is published") { $0.state == .published }
      var reference = JobReference(job: job.id)
      for step in terms.steps.dropFirst() {
        switch step {
        case .submitted, .published: break
        case .processing:
          try rig.say(maker.feedback(.processing, to: request))
          try rig.await(job, "is processing") { $0.state == .processing }
        case .asked:
          try rig.say(maker.feedback(.paymentRequired, to: request, amount: bill.amount))
          try rig.await(job, "is to be paid") { $0.state == .paymentRequired }
        case .delivered:
          try rig.say(maker.result("noon", to: request, amount: bill.amount))
          try rig.await(job, "is delivered") { $0.state == .delivered }
        case .approved:
          let told = try rig.ask("job.approve", reference, as: Job.self)
          #expect(told.providers.first?.payment == .approved)
        case .paid:
          reference.preimage = bill.preimage.description
          _ = try rig.ask("job.approve", reference, as: Job.self)
        case .settled:
          if terms == .payFirst { try rig.say(maker.result("noon", to: request)) }
          try rig.await(job, "is settled") { $0.state == .settled }
        }
        if step == dying { try kill(&rig) }
      }
      return try rig.await(job, "has ended") { $0.endedAt != nil }
    }
  }
}
