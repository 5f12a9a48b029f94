internal import Glibc

/// A group of users of this machine.
public enum LocalGroup {
  /// The uids of the users that the system's database lists as the group's members, in its order; nil if there is no
  /// such group. A user whose own group it is counts only if it is listed. Names without a user are left out.
  ///
  /// Reads the database, so it may block: for the start of a program and for a reload.
  public static func members(of name: String) -> [UInt32]? {
    guard let group = getgrnam(name) else { return nil }
    var uids: [UInt32] = []
    var next = group.pointee.gr_mem
    while let place = next, let member = place.pointee {
      if let user = getpwnam(member) { uids.append(user.pointee.pw_uid) }
      next = place.advanced(by: 1)
    }
    return uids
  }
}
