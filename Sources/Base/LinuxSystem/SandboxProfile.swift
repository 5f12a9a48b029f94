/// What a worker may do, as its role's table says. Everything not listed is denied as far as the kernel can.
///
/// Paths name a file, or a directory with all below it. They are looked up once, when the sandbox is made, and what
/// counts is the file found then: if another program later replaces a listed file by renaming a new one over it, as is
/// usual for `/etc/resolv.conf`, the new one is not listed. List the directory for files that others replace. A path
/// that does not exist is noted and stays denied.
public struct SandboxProfile: Hashable, Sendable, Codable {
  /// Sockets and addresses.
  public enum Network: Hashable, Sendable, Codable {
    /// No new socket of any kind. Connections that are open already, such as the bus, go on, and a listening socket
    /// that was passed in may accept.
    case none
    /// Unix sockets only.
    case unixOnly
    /// TCP outwards to these ports; no listening. UDP stays possible, because names are resolved by it. No unix sockets
    /// but pairs of streams, as with the following two.
    case outboundTCP(ports: [UInt16])
    /// TCP that others connect to, at any port: a server that never dials. No connecting of any kind, and no datagrams,
    /// so no name is looked up either. Connections that are open already go on.
    case inboundTCP
    /// Internet sockets of every direction.
    case inet
  }

  /// May be read and listed.
  public var readablePaths: [String]
  /// May be read, written, created, renamed and removed below.
  public var writablePaths: [String]
  /// May be read and executed. To run a dynamically linked program, the dynamic linker is needed too: `/usr/lib` has
  /// it.
  public var executablePaths: [String]
  /// Which sockets may be made.
  public var network: Network
  /// Whether programs may be started. Threads may, always.
  public var maySpawn: Bool
  /// Whether somebody else's program is in it, and not one of ours. Such a program sees no process but itself, stays in
  /// its group, so that one signal ends it with all that it has started, and takes nothing that cannot be counted from
  /// outside; the rest of what it is denied stands in `SystemCallFilter+Foreign.swift`.
  public var holdsForeignProgram: Bool
  /// Whether processes of the same user may trace this one, and a crash may leave a core. Without it nobody can read
  /// keys out of memory, and nobody can see why it hangs.
  public var dumpable: Bool
  /// Whether abstract unix sockets of processes outside may be reached, as a service manager's may be.
  public var mayReachAbstractSockets: Bool
  /// Whether unix sockets in the file system may be connected to beside those of the internet: for a worker that a
  /// person has started by hand, which joins the bus by its socket when it is in the sandbox already.
  public var mayConnectUnixSockets = false

  /// A profile; what is not named is denied.
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
  /// zone, the character sets, a source of chance. Nothing in it is private.
  public static let runtimePaths = [
    "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo",
    "/dev/null",
    "/dev/urandom", "/sys/devices/system/cpu",
  ]

  /// What resolving names and checking certificates reads besides. `/run/systemd/resolve` and the whole of `/etc/ssl`
  /// stand here as directories because their files are replaced while we run.
  public static let resolverPaths = [
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
    "/etc/protocols", "/run/systemd/resolve", "/etc/ssl", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
  ]
}
