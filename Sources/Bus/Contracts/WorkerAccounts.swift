/// As whom each provider of jobs acts, by the provider's name in `supervisor.conf`; "" is the account of its role
/// (``Role/withAccount``).
///
/// roostd derives it from the configuration and puts it into the signer's settings as `workerAccounts`:
/// `{"dvm-provider":"","shop":"npub1…"}`. The signer binds a provider to it: what roostd says of a worker counts, and
/// not what the worker says, which may have been taken over by what it reads.
public enum WorkerAccounts {
  /// The entry of the settings.
  public static let entry = "workerAccounts"
}
