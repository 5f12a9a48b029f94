/// What a worker may do, from its role's table. Everything not listed is denied, if the kernel can deny it.
///
/// A path names a file, or a directory with everything below it. It is looked up once, when the sandbox is made, and
/// refers to the file found then: if another program later renames a new file over a listed one, as is usual for
/// `/etc/resolv.conf`, the new one is not listed. For files that others replace, list the directory. A path that does
/// not exist is noted and stays denied.
public struct SandboxProfile: Hashable, Sendable, Codable {
  /// Sockets and addresses.
  public enum Network: Hashable, Sendable, Codable {
    /// No new socket of any kind. Connections that are already open, such as the bus, continue, and a listening socket
    /// that was passed in may accept.
    case none
    /// Unix sockets only.
    case unixOnly
    /// Outgoing TCP to these ports; no listening. UDP stays possible, because names are resolved through it. No unix
    /// sockets except pairs of streams, which holds for the next two cases as well.
    case outboundTCP(ports: [UInt16])
    /// Incoming TCP at any port: a server that never dials. No connecting of any kind, and no datagrams, so no names
    /// are resolved either. Connections that are already open continue.
    case inboundTCP
    /// Internet sockets in every direction.
    case inet
  }

  /// Paths that may be read and listed.
  public var readablePaths: [String]
  /// Paths below which everything may be read, written, created, renamed and removed.
  public var writablePaths: [String]
  /// Paths that may be read and executed. A dynamically linked program also needs the dynamic linker, which is in
  /// `/usr/lib`.
  public var executablePaths: [String]
  /// Which sockets may be created.
  public var network: Network
  /// Whether programs may be started. Threads always may.
  public var maySpawn: Bool
  /// Whether the process runs a foreign program instead of one of ours. Such a program sees no process but itself, and
  /// stays in its group, so that one signal ends it with everything it has started. It can use nothing that cannot be
  /// counted from outside. The other restrictions are in `SystemCallFilter+Foreign.swift`.
  public var holdsForeignProgram: Bool
  /// Whether processes of the same user may trace this one, and a crash may leave a core. If false, keys cannot be read
  /// out of its memory, but neither can anyone see why it hangs.
  public var dumpable: Bool
  /// Whether abstract unix sockets of processes outside may be reached, such as a service manager's.
  public var mayReachAbstractSockets: Bool
  /// Whether unix sockets in the file system may be connected to, in addition to internet sockets: for a worker one of
  /// whose programs reaches such a service, and for one that a person has started by hand, which joins the bus through
  /// its socket when it is in the sandbox already.
  public var mayConnectUnixSockets = false

  /// A profile; everything not named is denied.
  public init(
    readablePaths: [String] = [], writablePaths: [String] = [], executablePaths: [String] = [],
    network: Network = .none,
    maySpawn: Bool = false, holdsForeignProgram: Bool = false, dumpable: Bool = true,
    mayReachAbstractSockets: Bool = false
  ) {
    self.readablePaths = readablePaths
    self.writablePaths = writablePaths
    self.executablePaths = executablePaths
    self.network = network
    self.maySpawn = maySpawn
    self.holdsForeignProgram = holdsForeignProgram
    self.dumpable = dumpable
    self.mayReachAbstractSockets = mayReachAbstractSockets
  }

  /// What the C library, Swift's runtime and OpenSSL read after a program's start: libraries loaded late, the time
  /// zone, the character sets, a source of randomness. Nothing in it is private.
  public static let runtimePaths = [
    "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo",
    "/dev/null",
    "/dev/urandom", "/sys/devices/system/cpu",
  ]

  /// Further paths for resolving names and checking certificates. `/run/systemd/resolve` and the whole of `/etc/ssl`
  /// are listed as directories because their files are replaced while we run.
  public static let resolverPaths = [
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
    "/etc/protocols", "/run/systemd/resolve", "/etc/ssl", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
  ]
}
