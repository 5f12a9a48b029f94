import Contracts
import Cryptography
import EventLoop
import Frames
import JobProviding
import Nostr
import UserPrograms
import WorkerKit

/// The configuration of a provider: its settings, and the kinds of jobs that it serves.
struct ProviderConfiguration: Sendable {
  var settings = ProviderSettings()
  /// The kinds that are served; the built-in services if roostd names none, as when a person starts the worker by hand.
  var services: [JobSettings]

  private struct Jobs: Decodable {
    var jobs: [JobSettings]?
  }

  @EventLoopActor
  init(_ worker: Worker) throws(Refusal) {
    settings = try worker.settings(of: ProviderSettings.self)
    services = try worker.settings(as: Jobs.self).jobs ?? [.builtIn(5_400, "count"), .builtIn(5_302, "search")]
  }

  /// Whether programs work for customers that may have no account on this machine.
  var servesStrangers: Bool { settings.customers != ["accounts"] && services.contains { !$0.isBuiltIn } }

  /// The rules of the machine.
  func rules() throws(Refusal) -> ServingRules {
    var rules = ServingRules(services: [:], customers: try servedCustomers())
    for job in services {
      rules.services[job.kind] = ServingRules.Service(
        priceMillisatoshis: job.price ?? 0, concurrentMaximum: job.concurrent ?? 2,
        isRepeatable: job.isBuiltIn || job.repeatable ?? false)
    }
    rules.takesOpenRequests = settings.openMarket
    rules.ageMaximum = max(1, settings.requestAgeMilliseconds / 1_000)
    rules.paymentSeconds = max(1, settings.paymentTimeMilliseconds / 1_000)
    rules.concurrentMaximum = settings.concurrent
    rules.waitingMaximum = settings.waitingMaximum
    return rules
  }

  private func servedCustomers() throws(Refusal) -> ServingRules.Customers {
    switch settings.customers {
    case ["accounts"]: return .accounts
    case ["anyone"]: return .anyone
    case let texts:
      var keys: Set<PublicKey> = []
      for text in texts {
        do throws(EntityFault) { keys.insert(try PublicKey(spelled: text)) } catch {
          throw Refusal(.failed, "customers: \"\(text)\": \(error)")
        }
      }
      return .listed(keys)
    }
  }
}

/// The settings of one kind of job, `[worker.NAME.job.KIND]`.
struct JobSettings: Decodable, Sendable {
  var kind: UInt16
  /// The program's path and its arguments; empty for a built-in service.
  var program: [String]?
  /// `count` or `search`; "" for a program.
  var builtin: String?
  /// In millisatoshi.
  var price: Int64?
  var timeMilliseconds: UInt64?
  var memoryBytes: Int?
  var outputBytes: Int?
  var diskBytes: Int?
  var processes: Int?
  var concurrent: Int?
  var repeatable: Bool?
  var network: Bool?
  var read: [String]?
  /// `NAME=VALUE`
  var environment: [String]?

  static func builtIn(_ kind: UInt16, _ name: String) -> JobSettings { JobSettings(kind: kind, builtin: name) }

  var isBuiltIn: Bool { program?.isEmpty ?? true }

  /// The name that people see.
  var programText: String { program?.first ?? builtin ?? "" }

  /// How long one run may take.
  var patienceMilliseconds: UInt64 { timeMilliseconds ?? 60_000 }

  /// How its program is run.
  func plan(input: [UInt8], folder: String) -> ProgramPlan {
    ProgramPlan(
      command: program ?? [], input: input, folder: folder, environment: environment ?? [], readablePaths: read ?? [],
      network: network == true ? .internet : .none, timeMilliseconds: patienceMilliseconds,
      memoryByteCount: memoryBytes ?? 256 << 20, outputByteCount: outputBytes ?? 256 << 10,
      diskByteCount: diskBytes ?? 64 << 20, processMaximum: processes ?? 32,
      freeByteCountMinimum: ServingBounds.freeByteCountMinimum)
  }
}
