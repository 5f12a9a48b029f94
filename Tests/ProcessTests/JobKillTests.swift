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
      case submitted, published, processing, asked, approved, paid, settled
    }

    @Test(
      "Whoever dies at whatever step of a job's life, it comes to the same end, and nobody is asked or paid twice",
      arguments: ["dvm-tracker", "event-store", "outbox-planner", "signer"])
    func everyStep(victim: String) throws {
      try JobRig.run { rig in
        for step in Step.allCases {
          let maker = JobMaker()
          let told = try Self.live(rig, maker, killing: victim, behind: step)
          #expect(told.state == .settled && told.result?.content == "noon", "\(step)")
          #expect(told.requests.count == 1 && told.providers.first?.payment == .paid, "\(step)")
          #expect(told.diagnostics.isEmpty, "\(step): \(told.diagnostics)")
        }
        let status = try rig.ask("job.status", NoArguments(), as: TrackingStatus.self)
        #expect(status.jobs == ["settled": Step.allCases.count])
        #expect(status.approvedToday == Int64(Step.allCases.count) * 5_000)
      }
    }

    private static func live(
      _ rig: JobRig, _ maker: JobMaker, killing victim: String, behind dying: Step
    ) throws -> Job {
      func behind(_ step: Step) throws {
        if step == dying { try rig.kill(victim) }
      }
      let job = try rig.submit(maker.job(relay: rig.relay))
      try behind(.submitted)
      let request = try rig.request(job)
      try rig.await(job, "is published") { $0.state == .published }
      try behind(.published)
      try rig.say(maker.feedback(.processing, to: request))
      try rig.await(job, "is processing") { $0.state == .processing }
      try behind(.processing)
      let bill = try PayableInvoice(5_000)
      try rig.say(maker.feedback(.paymentRequired, to: request, amount: bill.amount))
      try rig.await(job, "is to be paid") { $0.state == .paymentRequired }
      try behind(.asked)
      var reference = JobReference(job: job.id)
      _ = try rig.ask("job.approve", reference, as: Job.self)
      try behind(.approved)
      reference.preimage = bill.preimage.description
      _ = try rig.ask("job.approve", reference, as: Job.self)
      try behind(.paid)
      try rig.say(maker.result("noon", to: request))
      try rig.await(job, "is settled") { $0.state == .settled }
      try behind(.settled)
      return try rig.show(job)
    }
  }
}
