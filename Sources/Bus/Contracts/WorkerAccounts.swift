/// The account of each provider of jobs, by the provider's name in `supervisor.conf`; "" is the account of its role
/// (``Role/withAccount``).
///
/// roostd derives it from the configuration and puts it into the signer's settings as `workerAccounts`:
/// `{"dvm-provider":"","shop":"npub1…"}`. The signer binds each provider to its account. It believes what roostd says
/// about a worker and not what the worker says, because the worker's input may have compromised it.
public enum WorkerAccounts {
  /// The name of the entry in the settings.
  public static let entry = "workerAccounts"
}
