/// The limits of everything that is admitted.
public struct AdmissionLimits: Hashable, Sendable {
  /// Wakes of one sender in a minute.
  public var senderPerMinute = 10
  /// Wakes of one sender in an hour.
  public var senderPerHour = 100
  /// Pushes to one recipient in an hour.
  public var recipientPerHour = 100
  /// How many of these all strangers together may use; the rest is for contacts only.
  public var strangersPerHour = 20
  /// Pushes of one contact to one recipient in an hour, so that one contact cannot use them all.
  public var contactPairPerHour = 60
  /// Pushes of one stranger to one recipient in an hour.
  public var strangerPairPerHour = 10
  /// Requests from one IPv4 address or IPv6 network of /64 in a minute.
  public var addressPerMinute = 600
  /// Requests that the relay accepts in a minute.
  public var globalPerMinute = 6_000
  /// Registrations of one owner in an hour.
  public var registrationsPerHour = 30
  /// Registrations from one network in an hour. More than an owner's: a mobile network has thousands of phones at one
  /// address.
  public var addressRegistrationsPerHour = 120
  /// How often one owner may write lists or rules in an hour.
  public var changesPerHour = 60
  /// The same for one network.
  public var addressChangesPerHour = 240
  /// Keys that each of the ten tables has room for, about 120 bytes each.
  public var keyMaximum = 65_536

  /// The default limits.
  public init() {}
}
