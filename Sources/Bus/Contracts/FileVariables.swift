/// Settings that name a file, and the variables by which a worker hears of it before its sandbox is made: the settings
/// come later, and what the sandbox does not name cannot be read any more.
public enum FileVariables {
  /// The variable of each entry of the settings.
  public static let names = [
    "caFile": "ROOST_CA_FILE", "certificateFile": "ROOST_CERTIFICATE_FILE", "keyFile": "ROOST_KEY_FILE",
    "keyRingFile": "ROOST_KEY_RING_FILE", "apnsKeyFile": "ROOST_APNS_KEY_FILE",
    "fcmAccountFile": "ROOST_FCM_ACCOUNT_FILE",
  ]
}
