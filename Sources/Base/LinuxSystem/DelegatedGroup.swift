internal import CLinux
internal import Glibc

// Which process may create groups. The tree of groups belongs to the service manager, which delegates a part of it on
// request (systemd: `Delegate=`). The service may arrange that part, and no other.
//
//     roost.service                what was delegated; has no process once it is arranged
//       ├ roostd                   roostd, and all that it starts
//       └ jobs-dvm-provider        no process; its provider makes and removes what is below
//           ├ 1                    one run of a program
//           └ 2
//
// The kernel bounds groups only if the group above has no process of its own (except the root group). So roostd moves
// first, before it has children, and only if it is alone in its group: in a group with other processes, such as a
// login's, nothing is moved.
//
// systemd marks the folder as delegated (`user.delegate`, from version 251; `trusted.delegate`, visible to root only).
// A group that systemd has made for us but not delegated stays unchanged, writable or not. Root can write in every
// group, so for root the mark is the only sign. If an ordinary user can write in a group that systemd has not made, the
// group was given to that user.

/// The part of the tree of groups that this process may arrange.
public struct DelegatedGroup: Hashable, Sendable {
  /// The delegated group.
  public let base: ControlGroup
  /// What the kernel can bound below it.
  public let controllers: Set<ControlGroup.Controller>

  /// Why there is no delegated group, and what to do.
  public struct Missing: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence without its end.
    public let description: String
  }

  /// The group that this process moves into.
  static let ownName = "roostd"

  /// Takes over the group of this process, and moves the process one group down. Call it before the process has
  /// children.
  ///
  /// - Parameter isService: whether systemd has started the process (`INVOCATION_ID`).
  public static func claim(isService: Bool) throws(Missing) -> DelegatedGroup {
    guard let mounts = KernelFiles.read("/proc/self/mountinfo", byteCountMaximum: 1 << 20),
      let groups = KernelFiles.read("/proc/self/cgroup"), let path = place(mounts: mounts, groups: groups)
    else { throw Missing(description: "this system has no groups of version 2 (cgroup2)") }
    return try claim(path, process: getpid(), isTrusted: isNoted(path) || !isService && geteuid() != 0)
  }

  /// Takes over a group.
  static func claim(_ path: String, process: Int32, isTrusted: Bool) throws(Missing) -> DelegatedGroup {
    guard isTrusted else {
      throw Missing(description: "\(path) was not delegated; a systemd unit does it by Delegate=memory pids")
    }
    let base = ControlGroup(path: path)
    for name in ["", "/cgroup.procs", "/cgroup.subtree_control"] where access(path + name, W_OK) != 0 {
      throw Missing(description: "\(path)\(name) may not be written")
    }
    guard let members = base.processes, members.allSatisfy({ $0 == process }) else {
      throw Missing(description: "\(path) has other processes than roostd")
    }
    let own = base.inner(ownName)
    do throws(SystemFault) {
      try own.make()
      if members.contains(process) { try own.enter() }
    } catch { throw Missing(description: "roostd cannot be moved one group down: \(error)") }
    return DelegatedGroup(base: base, controllers: base.boundInnerGroups())
  }

  /// The group for the programs of a worker, created and ready for groups below it.
  public func jobs(of worker: String) throws(SystemFault) -> ControlGroup {
    let group = base.inner("jobs-" + worker)
    try group.make()
    _ = group.boundInnerGroups()
    return group
  }

  /// Whether systemd has marked the group as delegated.
  private static func isNoted(_ path: String) -> Bool {
    ["user.delegate", "trusted.delegate"].contains { name in
      var value = [UInt8](repeating: 0, count: 8)
      let count = roost_attribute(path, name, &value, value.count)
      return count == 1 && value[0] == UInt8(ascii: "1")
    }
  }

  /// The folder of the group that was given to us: our own, or the one above if we have moved already.
  ///
  /// - Parameters:
  ///   - mounts: `/proc/self/mountinfo`: `36 25 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw`.
  ///   - groups: `/proc/self/cgroup`, a line of which is `0::/user.slice/…/roost.service`.
  static func place(mounts: [UInt8], groups: [UInt8]) -> String? {
    func lines(_ bytes: [UInt8]) -> [Substring] { String(decoding: bytes, as: UTF8.self).split(separator: "\n") }
    guard var path = lines(groups).first(where: { $0.hasPrefix("0::/") })?.dropFirst(3), !path.contains("/..") else {
      return nil
    }
    for line in lines(mounts) {
      let fields = line.split(separator: " ")
      guard let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count, fields[dash + 1] == "cgroup2", dash > 5
      else { continue }
      let (root, mountPoint) = (fields[3], fields[4])
      // Only a part of the tree may be mounted, as in a container.
      if root != "/" {
        guard path == root || path.hasPrefix(root + "/") else { continue }
        path = path.dropFirst(root.count)
      }
      var place = String(mountPoint) + (path == "/" ? "" : String(path))
      if place.hasSuffix("/" + ownName) { place.removeLast(ownName.count + 1) }
      return place
    }
    return nil
  }
}
