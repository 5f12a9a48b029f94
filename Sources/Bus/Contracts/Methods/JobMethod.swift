internal import Frames

/// The methods of the role `dvm-tracker`.
public enum JobMethod {
  /// Orders a job from data vending machines (NIP-90). Answered when it is committed.
  public static let submit = Method<JobSubmit, Job>(
    448, "job.submit", of: .dvmTracker, for: [.client],
    "Orders a job from data vending machines (NIP-90). Answered when it is committed.",
    refuses: [.noSuchAccount, .noSuchJob, .full, .diskFull])
  /// Jobs, the latest first.
  public static let list = Stream<JobList, Job, StoreCount>(
    449, "job.list", of: .dvmTracker, for: [.client],
    "Jobs, the latest first.")
  /// One job.
  public static let show = Method<JobReference, Job>(
    450, "job.show", of: .dvmTracker, for: [.client],
    "One job.", refuses: [.noSuchJob])
  /// A job at once and at each change, until its state is final or the caller cancels.
  public static let follow = Stream<JobReference, Job, Nothing>(
    451, "job.follow", of: .dvmTracker, for: [.client],
    "A job at once and at each change, until its state is final or the caller cancels.", refuses: [.noSuchJob])
  /// Approves the payment that a provider asks for, or hands in the proof of one.
  public static let approve = Method<JobReference, Job>(
    452, "job.approve", of: .dvmTracker, for: [.client],
    "Approves the payment that a provider asks for, or hands in the proof of one.",
    refuses: [.noSuchJob, .nothingToPay, .providerNeeded, .invoiceRefused, .noRelays])
  /// Denies the payment that a provider asks for.
  public static let deny = Method<JobReference, Job>(
    453, "job.deny", of: .dvmTracker, for: [.client],
    "Denies the payment that a provider asks for.", refuses: [.noSuchJob, .nothingToPay, .providerNeeded])
  /// Cancels a job.
  public static let cancel = Method<JobReference, Job>(
    454, "job.cancel", of: .dvmTracker, for: [.client],
    "Calls a job off.", refuses: [.noSuchJob, .jobOver])
  /// Providers of jobs, as they announced themselves (NIP-89), and what the tracker knows of them.
  public static let providers = Stream<JobProviders, JobProvider, StoreCount>(
    455, "job.providers", of: .dvmTracker, for: [.client],
    "Providers of jobs, as announced (NIP-89), and what is known of them here.")
  /// Figures of the jobs.
  public static let status = Method<NoArguments, TrackingStatus>(
    456, "job.status", of: .dvmTracker, for: [.client, .localRelay],
    "Figures of the jobs.")

  static let all: [MethodDeclaration] = [
    submit.declaration, list.declaration, show.declaration, follow.declaration, approve.declaration, deny.declaration,
    cancel.declaration, providers.declaration, status.declaration,
  ]
}

extension Job: Payload {}
extension JobProvider: Payload {}
extension TrackingStatus: Payload {}
