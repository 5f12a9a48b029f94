internal import Frames

/// The methods of the role `dvm-provider`.
public enum ProviderMethod {
  /// Figures of the jobs that are done for customers. Counters start at 0 with the process.
  public static let status = Method<NoArguments, ServingStatus>(
    512, "dvm.status", of: .dvmProvider, for: [.client, .dvmTracker, .localRelay],
    "Figures of the jobs that are done for others. Counters begin with the process.")
  /// Accepted requests for jobs, the latest first.
  public static let jobs = Stream<ServedJobs, ServedJob, StoreCount>(
    513, "dvm.jobs", of: .dvmProvider, for: [.client],
    "Requests for jobs that were taken up, the latest first.")

  static let all: [MethodDeclaration] = [
    status.declaration, jobs.declaration,
  ]
}

extension ServingStatus: Payload {}
extension ServedJob: Payload {}
