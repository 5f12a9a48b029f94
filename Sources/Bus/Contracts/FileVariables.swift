/// Settings that name a file, and the environment variables that give a worker those paths before it builds its
/// sandbox. The settings arrive later, and a file that the sandbox does not name can then no longer be read.
public enum FileVariables {
  /// The variable for each entry of the settings.
  public static let names = [
    "caFile": "ROOST_CA_FILE", "certificateFile": "ROOST_CERTIFICATE_FILE", "keyFile": "ROOST_KEY_FILE",
    "keyRingFile": "ROOST_KEY_RING_FILE", "apnsKeyFile": "ROOST_APNS_KEY_FILE",
    "fcmAccountFile": "ROOST_FCM_ACCOUNT_FILE", "backupDirectory": "ROOST_BACKUP_DIRECTORY",
    "passphraseFile": "ROOST_PASSPHRASE_FILE", "runAfter": "ROOST_RUN_AFTER",
  ]
}
