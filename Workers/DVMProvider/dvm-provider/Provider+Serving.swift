import Bus
import Contracts
import Cryptography
import Frames
import JobProviding
import WorkerLedger
import ProvidingLedger
import Storage
import WorkerKit

// What clients can learn of the provider: `dvm.status`, `dvm.jobs`.

extension Provider {
  func serve() {
    worker.serve(ProviderMethod.status) { [unowned self] (_, _) in status }
    worker.serve(ProviderMethod.jobs, list)
    worker.serveForgetting(in: directory, forgotten, of: ledger.file) { [ledger] account throws(StorageFault) in
      try await ledger.count(of: account)
    }
  }

  private var status: ServingStatus {
    var status = ServingStatus()
    status.provider = desk?.provider.description
    status.isOnNetwork = configuration.settings.network
    status.waiting = desk?.waitingCount ?? 0
    status.unpaid = desk?.unpaidCount ?? 0
    status.countedSince = startedAt
    status.passedOver = passedOverCount
    status.services = configuration.services.sorted { $0.kind < $1.kind }.map { job in
      var service = ServingStatus.Service(kind: job.kind, program: job.programText, price: job.price ?? 0)
      service.running = desk?.runningCount(kind: job.kind) ?? 0
      if let count = counts[job.kind] {
        (service.taken, service.answered, service.failed) = (count.taken, count.answered, count.failed)
      }
      return service
    }
    return status
  }

  private func list(_ request: BusRequest, _ wanted: ServedJobs) async throws(Refusal) -> StoreCount? {
    let requests: [ServedRequest]
    do throws(StorageFault) { requests = try await ledger.requests(limit: wanted.limit ?? 100) } catch {
      throw writer.health.refusal(error)
    }
    for served in requests {
      // The state in memory is newer than the row.
      try await request.send((desk?[served.id] ?? served).job, of: ProviderMethod.jobs)
    }
    return StoreCount(count: requests.count)
  }
}
