/// Rights on files, as Landlock numbers them (`LANDLOCK_ACCESS_FS_*`).
struct FileRights: OptionSet {
  let rawValue: UInt64

  static let execute = FileRights(rawValue: 1 << 0)
  static let writeFile = FileRights(rawValue: 1 << 1)
  static let readFile = FileRights(rawValue: 1 << 2)
  static let readDirectory = FileRights(rawValue: 1 << 3)
  static let removeDirectory = FileRights(rawValue: 1 << 4)
  static let removeFile = FileRights(rawValue: 1 << 5)
  static let makeCharacterDevice = FileRights(rawValue: 1 << 6)
  static let makeDirectory = FileRights(rawValue: 1 << 7)
  static let makeFile = FileRights(rawValue: 1 << 8)
  static let makeSocket = FileRights(rawValue: 1 << 9)
  static let makePipe = FileRights(rawValue: 1 << 10)
  static let makeBlockDevice = FileRights(rawValue: 1 << 11)
  static let makeLink = FileRights(rawValue: 1 << 12)
  /// Renaming and linking between directories; version 2. Version 1 always denies it.
  static let refer = FileRights(rawValue: 1 << 13)
  /// Version 3.
  static let truncate = FileRights(rawValue: 1 << 14)
  /// Commands to devices; version 5.
  static let controlDevice = FileRights(rawValue: 1 << 15)

  /// All rights that a version of the interface can deny.
  static func known(toVersion version: Int) -> FileRights {
    switch version {
    case ...1: FileRights(rawValue: (1 << 13) - 1)
    case 2: FileRights(rawValue: (1 << 14) - 1)
    case 3, 4: FileRights(rawValue: (1 << 15) - 1)
    default: FileRights(rawValue: (1 << 16) - 1)
    }
  }

  static let reading: FileRights = [.readFile, .readDirectory]
  static let executing: FileRights = [.readFile, .readDirectory, .execute]
  /// Everything that files, directories, pipes, sockets and links need; devices cannot be made.
  static let writing: FileRights = [
    .readFile, .readDirectory, .writeFile, .truncate, .removeDirectory, .removeFile, .makeDirectory, .makeFile,
    .makeSocket,
    .makePipe, .makeLink, .refer,
  ]
  /// The rights that a rule on anything other than a directory may have; the kernel refuses the rule otherwise.
  static let ofSingleFile: FileRights = [.execute, .writeFile, .readFile, .truncate, .controlDevice]
}

/// Rights on ports (`LANDLOCK_ACCESS_NET_*`); version 4.
struct PortRights: OptionSet {
  let rawValue: UInt64

  static let bindTCP = PortRights(rawValue: 1 << 0)
  static let connectTCP = PortRights(rawValue: 1 << 1)
}

/// What the sandbox keeps from reaching outside (`LANDLOCK_SCOPE_*`); version 6.
struct ScopeRights: OptionSet {
  let rawValue: UInt64

  static let abstractSockets = ScopeRights(rawValue: 1 << 0)
  static let signals = ScopeRights(rawValue: 1 << 1)
}
