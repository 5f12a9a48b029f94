// swift-tools-version:6.2
// The rooms of the house. `Sources` has the rooms that are shared, `Workers` one room for each worker, and `Tests`
// mirrors both. A room of the product imports C, Base, Network, Bus and itself: Base has C alone below it, Network and
// Bus have C and Base. Targets stand in order, so a target may depend on those above it only, and each C module has one
// importer. Tests/HouseTests reads this file and the imports and holds all of it, because SwiftPM does not.
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]
let strictC: [CSetting] = [
  .define("_GNU_SOURCE"), .unsafeFlags(["-Wall", "-Wextra", "-Werror", "-std=c11"]),
]

// Which products of packages are used; a target names them as it names its own modules.
let products = [
  "GRDB.swift": ["GRDB", "GRDBSQLite"],
  "hummingbird": ["HummingbirdCore"],
  "swift-argument-parser": ["ArgumentParser"],
  "swift-collections": ["DequeModule", "HeapModule", "OrderedCollections"],
  "swift-http-types": ["HTTPTypes"],
  "swift-log": ["Logging"],
  "swift-nio": ["NIOCore", "NIOPosix", "NIOTLS", "NIOHTTP1"],
  "swift-nio-extras": ["NIOHTTPTypes"],
  "swift-nio-http2": ["NIOHTTP2", "NIOHPACK"],
  "swift-nio-ssl": ["NIOSSL"],
]

// What many depend on together
let queues = ["DequeModule", "HeapModule"]
let http2 = ["NIOCore", "NIOPosix", "NIOHTTP2", "NIOHPACK", "NIOSSL"]
let events = ["Clocks", "Cryptography", "Nostr"]
let values = ["Clocks", "Cryptography", "Nostr", "Frames", "Contracts"]
let worker = values + ["LinuxSystem", "EventLoop", "Bus", "WorkerKit", "Logging"]
let keeper = worker + ["Addresses", "Storage", "NostrContracts", "WorkerLedger"]

/// The targets of one folder, each in a folder of its own there, which has its name unless it says another.
func room(_ folder: String, _ targets: Target...) -> [Target] {
  for target in targets { target.path = "\(folder)/\(target.path ?? target.name)" }
  return targets
}

/// A library. One that `isOptimised` is so in debug builds too, because its arithmetic would take fifty times as long.
func library(_ name: String, _ names: [String] = [], isOptimised: Bool = false) -> Target {
  .target(
    name: name, dependencies: dependencies(names),
    swiftSettings: isOptimised ? strict + [.unsafeFlags(["-O"])] : strict)
}

func program(_ name: String, _ names: [String] = [], in folder: String? = nil) -> Target {
  .executableTarget(name: name, dependencies: dependencies(names), path: folder, swiftSettings: strict)
}

/// Tests at a path below the folder of all tests: the last part of it is their name.
func tests(_ path: String, _ names: [String] = [], exclude: [String] = []) -> Target {
  .testTarget(
    name: path.split(separator: "/").last.map(String.init) ?? path, dependencies: dependencies(names), path: path,
    exclude: exclude, swiftSettings: strict)
}

func dependencies(_ names: [String]) -> [Target.Dependency] {
  names.map { name in
    guard let package = products.first(where: { $0.value.contains(name) })?.key else { return .byName(name: name) }
    return .product(name: name, package: package)
  }
}

let rooms: [[Target]] = [
  // C libraries: a module map and a shim each. Each has one importer.
  room(
    "Sources/C",
    .systemLibrary(name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CTLS", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
    // Loaded when it is needed, never linked (docs/decisions/0011-libcurl.md): so no pkg-config, which would link it.
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CSecp256k1", pkgConfig: "libsecp256k1", providers: [.apt(["libsecp256k1-dev"])]),
    .systemLibrary(name: "CUtf8proc", providers: [.apt(["libutf8proc-dev"])]),
    .systemLibrary(name: "CQRencode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])])
  ),
  // What everything stands on: values, the machine, Nostr, a database
  room(
    "Sources/Base",
    library("Clocks", ["HeapModule"]),
    library("Addresses"),
    library("JSON"),
    library("Cryptography", ["COpenSSL", "CSodium", "CSecp256k1", "CUtf8proc"]),
    library("BatchVerification", ["Cryptography"], isOptimised: true),
    library("Nostr", ["Addresses", "JSON", "Cryptography"]),
    library("LinuxSystem", ["CSeccomp", "CLinux"]),
    library("EventLoop", ["CLibUV", "Clocks", "Addresses"]),
    library("Storage", ["LinuxSystem", "Cryptography", "GRDB", "GRDBSQLite"]),
    library("FairSharing", queues),
    library("QRCode", ["CQRencode"])
  ),
  // What speaks with other machines
  room(
    "Sources/Network",
    library("WebSocket", ["CWslay", "CZlib", "Clocks", "Addresses", "LinuxSystem", "EventLoop"]),
    library("TLS", ["CTLS", "Clocks", "EventLoop", "WebSocket"]),
    library("HTTPClient", ["CCurl", "Clocks", "EventLoop", "WebSocket", "TLS"]),
    library("HTTP2Client", http2 + ["Clocks", "Addresses", "NIOTLS", "DequeModule"])
  ),
  // What passes between the programs, and both ends of it
  room(
    "Sources/Bus",
    library("Frames", ["JSON"]),
    library("Contracts", ["Addresses", "JSON", "Frames"]),
    library("NostrContracts", ["JSON", "Cryptography", "Nostr", "Frames", "Contracts"]),
    library("MethodReference", ["Frames", "Contracts"]),
    library("Recordings", ["Clocks", "Frames", "Contracts"]),
    library("Wording", ["Nostr", "Frames", "Contracts"]),
    library("LinkAddresses", ["Addresses", "JSON", "Cryptography", "Frames"]),
    library("Bus", ["Clocks", "EventLoop", "Frames", "Contracts", "DequeModule"]),
    library("RoostClient", values + ["Addresses", "JSON", "LinuxSystem", "EventLoop", "NostrContracts", "Bus"]),
    library("WorkerKit", values + ["LinuxSystem", "EventLoop", "Bus", "ArgumentParser", "Logging"]),
    library("Backups", ["Clocks", "Cryptography", "LinuxSystem", "EventLoop", "Frames", "Contracts"]),
    library("UserPrograms", ["LinuxSystem", "EventLoop", "Frames"]),
    library(
      "DataKeys", ["Cryptography", "EventLoop", "Storage", "Frames", "Contracts", "NostrContracts", "Bus"]),
    library(
      "PersonAccounts", ["Cryptography", "Nostr", "EventLoop", "Frames", "Contracts", "Bus", "WorkerKit", "Logging"]),
    library("WorkerLedger", ["LinuxSystem", "EventLoop", "Storage", "Frames", "Contracts", "WorkerKit", "Logging"])
  ),
  room(
    "Sources/Supervisor",
    library("MessageHub", ["Clocks", "Frames", "Contracts", "DequeModule"]),
    library("Supervision", ["Clocks"]),
    library("RoostConfiguration", ["Addresses", "Frames", "Contracts", "MessageHub"]),
    library("Logs", ["Clocks", "LinuxSystem", "EventLoop", "Frames", "Contracts", "DequeModule"]),
    .executableTarget(name: "roost-exec", cSettings: strictC),
    program(
      "roostd",
      [
        "Clocks", "LinuxSystem", "EventLoop", "Frames", "Contracts", "Recordings", "Bus", "MessageHub", "Supervision",
        "RoostConfiguration", "Logs", "ArgumentParser",
      ])
  ),
  room(
    "Workers/RelayConnector",
    library("RelaySession", events + ["Addresses", "JSON"]),
    library("RelaySubscriptions", events + ["Addresses", "FairSharing", "Contracts", "RelaySession", "DequeModule"]),
    library("RelayQuarantine", ["Clocks"]),
    library("RelayDials", ["Clocks", "DequeModule"]),
    program(
      "relay-connector",
      worker + [
        "Addresses", "JSON", "WebSocket", "TLS", "HTTPClient", "NostrContracts", "RelaySession", "RelaySubscriptions",
        "RelayQuarantine", "RelayDials",
      ])
  ),
  room(
    "Workers/EventStore",
    library("EventIndex", ["JSON", "Cryptography", "Nostr"]),
    library("Reconciliation", events),
    library("Observations", ["JSON", "Cryptography", "Nostr", "Frames", "Contracts", "NostrContracts"]),
    library(
      "EventArchive",
      [
        "JSON", "Cryptography", "Nostr", "LinuxSystem", "Storage", "EventIndex", "Reconciliation", "Observations",
        "HeapModule",
      ]),
    library("EventGate", events + ["Contracts", "EventArchive", "DequeModule"]),
    program(
      "event-store",
      worker + queues + [
        "Addresses", "Storage", "NostrContracts", "WorkerLedger", "EventIndex", "Reconciliation", "Observations",
        "EventArchive", "EventGate",
      ])
  ),
  room(
    "Workers/OutboxPlanner",
    library("RelaySelection", ["Clocks"]),
    library("OutboxRouting", values + ["Addresses", "NostrContracts", "RelaySelection", "DequeModule"]),
    library("PublishQueue", values + queues),
    library("PublishLedger", ["Cryptography", "Nostr", "Storage", "Contracts", "PublishQueue"]),
    program("outbox-planner", keeper + ["OutboxRouting", "PublishQueue", "PublishLedger", "DequeModule"])
  ),
  room(
    "Workers/Mirror",
    library("Mirroring", values + ["Addresses"]),
    library("CopyLedger", ["Cryptography", "Nostr", "Storage"]),
    program("mirror", keeper + ["Mirroring", "CopyLedger"])
  ),
  room(
    "Workers/People",
    library("Forgetting", ["Contracts"]),
    library("ListEditing", ["Addresses", "Cryptography", "JSON", "Nostr", "Wording"]),
    library("PeopleLedger", ["Cryptography", "Nostr", "Storage", "Frames", "ListEditing"]),
    library("Profiles", values + ["JSON", "Wording", "DequeModule"]),
    library("Feeds", ["JSON", "Cryptography", "Nostr", "Frames", "Contracts"]),
    program(
      "people",
      keeper + ["DataKeys", "PersonAccounts", "Forgetting", "ListEditing", "PeopleLedger", "Profiles", "Feeds"])
  ),
  room(
    "Workers/LinkFeed",
    library("Linkstr", ["JSON", "Cryptography", "Nostr", "Contracts", "Wording", "LinkAddresses"]),
    library("LinkLedger", ["Cryptography", "Storage"]),
    program("link-feed", keeper + ["DataKeys", "PersonAccounts", "Wording", "LinkAddresses", "Linkstr", "LinkLedger"])
  ),
  room(
    "Workers/LinkPage",
    library("PageDoor", ["Cryptography", "WebSocket"]),
    // The files that a browser gets, as bytes in the program.
    .target(name: "PageFiles", resources: [.embedInCode("Page")], swiftSettings: strict),
    program(
      "link-page",
      worker + [
        "Addresses", "JSON", "WebSocket", "TLS", "HTTPClient", "QRCode", "UserPrograms", "WorkerLedger", "Wording",
        "LinkAddresses", "PageDoor", "PageFiles",
      ])
  ),
  room(
    "Workers/Backup",
    library("BackupShelf", ["Wording"]),
    program(
      "backup",
      [
        "Clocks", "Cryptography", "LinuxSystem", "EventLoop", "Frames", "Contracts", "Bus", "WorkerKit", "Backups",
        "BackupShelf", "Logging",
      ])
  ),
  room(
    "Workers/DVMTracker",
    library("JobTracking", values + ["Addresses"]),
    library("JobLedger", ["Cryptography", "Nostr", "Storage", "Frames", "Contracts", "JobTracking"]),
    program("dvm-tracker", keeper + ["JobTracking", "JobLedger"])
  ),
  room(
    "Workers/DVMProvider",
    library(
      "JobProviding",
      ["Addresses", "Cryptography", "Nostr", "Frames", "Contracts", "DequeModule", "OrderedCollections"]),
    library("ProvidingLedger", ["Cryptography", "Nostr", "Storage", "Contracts", "JobProviding"]),
    program("dvm-provider", keeper + ["UserPrograms", "JobProviding", "ProvidingLedger", "OrderedCollections"])
  ),
  room(
    "Workers/PushRelay",
    library("PushDelivery", ["Clocks", "Cryptography", "Frames", "Contracts", "DequeModule"]),
    library("PushRules", events + ["NostrContracts", "PushDelivery"]),
    library("PushRequests", ["Addresses", "JSON", "Cryptography", "Nostr", "Frames", "PushDelivery", "PushRules"]),
    library("PushAdmission", ["Addresses", "Cryptography", "PushDelivery"]),
    library("PushLedger", ["Cryptography", "Storage", "PushDelivery"]),
    program(
      "push-relay",
      keeper + [
        "WebSocket", "TLS", "HTTPClient", "HTTP2Client", "PushDelivery", "PushRules", "PushRequests", "PushAdmission",
        "PushLedger", "NIOCore", "NIOPosix", "NIOHTTP1", "NIOSSL", "NIOHTTPTypes", "HummingbirdCore", "HTTPTypes",
      ])
  ),
  room(
    "Workers/Signer",
    library("Signing", values + ["NostrContracts"]),
    library("KeyStore", ["Cryptography", "Nostr", "LinuxSystem"]),
    program("signer", worker + ["Addresses", "NostrContracts", "Signing", "KeyStore"])
  ),
  room(
    "Workers/LocalRelay",
    library("ClientSession", values + ["Addresses", "FairSharing", "DequeModule"]),
    library("StatusPages", ["Clocks", "Cryptography", "Frames", "Contracts", "Wording"]),
    program(
      "local-relay",
      worker + [
        "Addresses", "Storage", "FairSharing", "WebSocket", "TLS", "WorkerLedger", "ClientSession",
        "StatusPages", "DequeModule",
      ])
  ),
  room(
    "Sources/CommandLine",
    library(
      "Rendering",
      [
        "Addresses", "JSON", "Cryptography", "Nostr", "QRCode", "Frames", "Contracts", "MethodReference", "Recordings",
        "Wording",
      ]),
    program(
      "roost",
      values + [
        "Addresses", "JSON", "QRCode", "LinuxSystem", "EventLoop", "NostrContracts", "MethodReference", "Recordings",
        "Wording", "LinkAddresses", "Bus", "RoostClient", "Backups", "Rendering", "DequeModule", "ArgumentParser",
      ])
  ),

  room(
    "examples",
    program("example-client", ["Frames", "Contracts", "Bus", "RoostClient"], in: "SwiftClient"),
    program(
      "example-notes", ["Cryptography", "Nostr", "EventLoop", "Frames", "Contracts", "RoostClient"], in: "SwiftNotes"),
    program(
      "example-people",
      ["Cryptography", "Nostr", "EventLoop", "Frames", "Contracts", "RoostClient"], in: "SwiftPeople"),
    program("example-job", ["Nostr", "EventLoop", "Frames", "Contracts", "RoostClient"], in: "SwiftJob")
  ),

  room(
    "Benchmarks",
    program("loop-bench", ["Clocks", "EventLoop"], in: "LoopBench"),
    // What reading and verifying an event costs; run by `make bench`
    program("event-bench", events, in: "EventBench"),
    // What verifying signatures in batches costs; run by `make bench`
    program("batch-bench", ["Cryptography", "BatchVerification"], in: "BatchBench"),
    // What opening a gift wrap costs the signer; run by hand
    program("wrap-bench", ["Cryptography", "Nostr", "NostrContracts", "Signing"], in: "WrapBench"),
    // What an idle WebSocket costs a server, and how fast it sends; run by `make bench`
    program("websocket-bench", ["Clocks", "EventLoop", "WebSocket"], in: "WebSocketBench"),
    // What a tracker's start costs, and an answer; run by hand
    program(
      "job-bench", ["Cryptography", "Nostr", "Storage", "Contracts", "JobTracking", "JobLedger"], in: "JobBench"),
    program(
      "archive-bench",
      ["Cryptography", "Nostr", "Storage", "Reconciliation", "Observations", "EventArchive"], in: "ArchiveBench"),
    // What the connector's machines cost for each event of a relay; run by `make bench`
    program(
      "session-bench", ["Clocks", "Nostr", "Addresses", "RelaySession", "RelaySubscriptions"], in: "SessionBench"),
    // Phones and senders that ask a push relay as fast as it answers; run by `make bench`
    program("push-bench", ["Cryptography"], in: "PushBench"),
    // How fast one HTTP/2 connection carries posts; run by `make bench`
    program("http2-bench", ["Clocks", "Addresses", "HTTP2Client"], in: "HTTP2Bench"),
    // The planner's choice of relays as a filter of lines, for worlds by other hands
    program("outbox-select", ["JSON", "RelaySelection"], in: "OutboxSelect"),
    // That choice beside those of other clients, in a simulated world; run by `make bench-outbox`
    program("outbox-bench", ["Clocks", "RelaySelection"], in: "OutboxBench")
  ),

  // What serves the tests of all rooms, and then the tests, in the folders of their rooms
  room(
    "Tests",
    library("TestSupport", ["Clocks", "LinuxSystem", "EventLoop", "Frames", "Contracts"]),
    // Run as a process of its own by LinuxSystemTests: no test can leave a sandbox again.
    program("sandbox-probe", ["LinuxSystem", "EventLoop"], in: "SandboxProbe"),
    // Runs a program as a worker does, for UserProgramsTests: a part of the library is a process of its own.
    program("program-runner", ["EventLoop", "Frames", "UserPrograms"], in: "ProgramRunner"),
    // Compares verdicts on signatures in batches with those of libsecp256k1: 100,000 for BatchVerificationTests, any
    // count by hand.
    library("BatchTrial", ["Clocks", "Cryptography", "BatchVerification"]),
    program("batch-trial", ["BatchTrial"], in: "BatchTrialProgram"),
    // Run under a real roostd by ProcessTests: everything a worker must not do.
    program("misbehaving-worker", ["Frames"], in: "MisbehavingWorker"),
    // APNs, FCM and a Web Push service on loopback, for tests of push-relay and its benchmark.
    program("push-fakes", http2 + ["Cryptography", "Frames", "NIOTLS", "NIOHTTP1"], in: "PushFakes"),
    // Preloaded into a real roostd by ProcessTests: system calls that fail when a test wants it.
    .target(name: "FaultInjector", cSettings: strictC, linkerSettings: [.linkedLibrary("dl")]),
    tests("HouseTests", ["Frames", "RoostConfiguration", "TestSupport"]),
    tests(
      "ProcessTests",
      values + [
        "Addresses", "LinuxSystem", "EventLoop", "Storage", "NostrContracts", "Recordings", "RoostClient", "DataKeys",
        "LinkAddresses", "Linkstr", "Reconciliation", "PushDelivery", "PushLedger", "TestSupport",
      ], exclude: ["Transcripts"]),
    tests("Base/AddressesTests", ["Addresses", "TestSupport"]),
    tests("Base/ClocksTests", ["Clocks", "TestSupport"]),
    tests("Base/JSONTests", ["Clocks", "JSON", "Frames", "TestSupport"]),
    tests("Base/CryptographyTests", ["Clocks", "Cryptography", "TestSupport"]),
    tests(
      "Base/BatchVerificationTests", ["Clocks", "Cryptography", "BatchVerification", "BatchTrial", "TestSupport"],
      exclude: ["Vectors"]),
    tests("Base/NostrTests", events + ["Addresses", "JSON", "Frames", "TestSupport"], exclude: ["RealEvents"]),
    tests("Base/LinuxSystemTests", ["LinuxSystem", "TestSupport"]),
    tests("Base/EventLoopTests", ["Clocks", "EventLoop", "TestSupport"]),
    tests("Base/StorageTests", ["Clocks", "Storage", "TestSupport"]),
    tests("Base/QRCodeTests", ["QRCode", "TestSupport"]),
    tests("Network/WebSocketTests", ["Clocks", "EventLoop", "WebSocket", "TestSupport"]),
    tests("Network/TLSTests", ["Clocks", "LinuxSystem", "EventLoop", "WebSocket", "TLS", "TestSupport"]),
    tests("Network/HTTPClientTests", ["LinuxSystem", "EventLoop", "WebSocket", "TLS", "HTTPClient", "TestSupport"]),
    tests("Network/HTTP2ClientTests", http2 + ["Clocks", "Addresses", "HTTP2Client", "TestSupport"]),
    tests("Bus/FramesTests", ["Clocks", "Frames", "TestSupport"]),
    tests("Bus/ContractsTests", ["Frames", "Contracts"]),
    tests("Workers/Backup/BackupShelfTests", ["BackupShelf"]),
    tests(
      "Bus/BackupsTests", ["Clocks", "Cryptography", "EventLoop", "Frames", "Contracts", "Backups", "TestSupport"]),
    tests("Bus/MethodReferenceTests", ["Frames", "Contracts", "MethodReference"]),
    tests("Bus/UserProgramsTests", ["LinuxSystem", "Frames", "UserPrograms", "TestSupport"]),
    tests("Bus/DataKeysTests", ["Cryptography", "DataKeys"]),
    tests("Bus/NostrContractsTests", values + ["NostrContracts", "TestSupport"]),
    tests("Bus/LinkAddressesTests", ["Cryptography", "Frames", "LinkAddresses"]),
    tests("Bus/RecordingsTests", ["Clocks", "Frames", "Contracts", "Recordings", "TestSupport"]),
    tests(
      "Bus/RoostClientTests",
      values + ["Addresses", "LinuxSystem", "EventLoop", "Bus", "RoostClient", "MessageHub", "roost", "TestSupport"]),
    tests("Supervisor/MessageHubTests", ["Clocks", "Frames", "Contracts", "MessageHub"]),
    tests("Supervisor/SupervisionTests", ["Clocks", "Supervision"]),
    tests(
      "Supervisor/LogsTests", ["Clocks", "LinuxSystem", "EventLoop", "Frames", "Contracts", "Logs", "TestSupport"]),
    tests("Supervisor/ConfigurationTests", ["Clocks", "Contracts", "RoostConfiguration"], exclude: ["Golden"]),
    tests("Supervisor/ExecShimTests", ["LinuxSystem", "TestSupport"]),
    tests("CommandLine/RenderingTests", values + ["QRCode", "Recordings", "Wording", "Rendering", "TestSupport"]),
    tests("Workers/RelayConnector/RelaySessionTests", events + ["Addresses", "RelaySession", "TestSupport"]),
    tests(
      "Workers/RelayConnector/RelaySubscriptionsTests",
      events + ["Addresses", "Contracts", "RelaySession", "RelaySubscriptions", "TestSupport"]),
    tests("Workers/RelayConnector/RelayQuarantineTests", ["Clocks", "RelayQuarantine", "TestSupport"]),
    tests("Workers/RelayConnector/RelayDialsTests", ["Clocks", "RelayDials", "TestSupport"]),
    tests(
      "Workers/RelayConnector/RelayPeerTests",
      ["Addresses", "Clocks", "Nostr", "EventLoop", "WebSocket", "RelaySession", "TestSupport"]),
    tests("Workers/EventStore/EventIndexTests", events + ["EventIndex", "TestSupport"]),
    tests("Workers/EventStore/ReconciliationTests", events + ["Reconciliation", "TestSupport"], exclude: ["Vectors"]),
    tests("Workers/EventStore/ObservationsTests", values + ["NostrContracts", "Observations", "TestSupport"]),
    tests(
      "Workers/EventStore/EventArchiveTests",
      events + [
        "Storage", "NostrContracts", "EventIndex", "Reconciliation", "Observations", "EventArchive", "TestSupport",
      ]),
    tests(
      "Workers/EventStore/EventGateTests",
      ["Clocks", "Cryptography", "Nostr", "Contracts", "EventArchive", "EventGate", "TestSupport"]),
    tests(
      "Workers/OutboxPlanner/OutboxRoutingTests",
      values + ["Addresses", "NostrContracts", "OutboxRouting", "RelaySelection", "TestSupport"]),
    tests("Workers/OutboxPlanner/RelaySelectionTests", ["Clocks", "RelaySelection", "TestSupport", "outbox-select"]),
    tests("Workers/OutboxPlanner/PublishQueueTests", values + ["PublishQueue", "TestSupport"]),
    tests(
      "Workers/OutboxPlanner/PublishLedgerTests",
      ["Cryptography", "Nostr", "Storage", "Contracts", "PublishQueue", "PublishLedger", "TestSupport"]),
    tests("Workers/Mirror/MirroringTests", values + ["Addresses", "Mirroring"]),
    tests("Workers/People/ProfilesTests", values + ["Profiles"]),
    tests("Workers/Mirror/CopyLedgerTests", ["Cryptography", "Nostr", "CopyLedger", "TestSupport"]),
    tests("Workers/People/FeedsTests", values + ["Feeds"]),
    tests(
      "Workers/People/ListEditingTests",
      ["Addresses", "Clocks", "Cryptography", "JSON", "Nostr", "Frames", "ListEditing", "TestSupport"]),
    tests("Workers/LinkFeed/LinkLedgerTests", ["Cryptography", "Storage", "LinkLedger", "TestSupport"]),
    tests("Workers/LinkPage/PageDoorTests", ["WebSocket", "PageDoor"]),
    tests("Workers/LinkFeed/LinkstrTests", values + ["JSON", "LinkAddresses", "Linkstr", "TestSupport"]),
    tests(
      "Workers/DVMTracker/JobTrackingTests",
      values + ["Addresses", "JobTracking", "JobLedger", "Rendering", "TestSupport"]),
    tests(
      "Workers/DVMTracker/JobLedgerTests",
      ["Cryptography", "Nostr", "Storage", "Contracts", "JobTracking", "JobLedger", "TestSupport"]),
    tests("Workers/DVMProvider/JobProvidingTests", values + ["JobProviding", "TestSupport"]),
    tests(
      "Workers/DVMProvider/ProvidingLedgerTests",
      ["Cryptography", "Nostr", "Storage", "Contracts", "JobProviding", "ProvidingLedger", "TestSupport"]),
    tests("Workers/PushRelay/PushDeliveryTests", ["Clocks", "Cryptography", "PushDelivery", "TestSupport"]),
    tests("Workers/PushRelay/PushRulesTests", events + ["Addresses", "PushDelivery", "PushRules"]),
    tests(
      "Workers/PushRelay/PushRequestsTests",
      events + ["JSON", "Frames", "PushDelivery", "PushRules", "PushRequests", "TestSupport"], exclude: ["Vectors"]),
    tests(
      "Workers/PushRelay/PushAdmissionTests",
      ["Clocks", "Addresses", "Cryptography", "PushDelivery", "PushAdmission", "TestSupport"]),
    tests(
      "Workers/PushRelay/PushLedgerTests",
      ["Clocks", "Cryptography", "Storage", "PushDelivery", "PushLedger", "TestSupport"]),
    tests("Workers/PushRelay/PushFakesTests", ["Addresses", "Cryptography", "HTTP2Client", "Frames", "TestSupport"]),
    tests("Workers/People/ForgettingTests", ["Contracts", "Forgetting"]),
    tests(
      "Workers/People/PeopleLedgerTests", ["Cryptography", "Storage", "ListEditing", "PeopleLedger", "TestSupport"]),
    tests("Workers/Signer/SigningTests", values + ["NostrContracts", "Signing", "TestSupport"]),
    tests("Workers/Signer/KeyStoreTests", ["Cryptography", "Nostr", "LinuxSystem", "KeyStore", "TestSupport"]),
    tests(
      "Workers/LocalRelay/ClientSessionTests", values + ["Addresses", "FairSharing", "ClientSession", "TestSupport"]),
    tests("Workers/LocalRelay/StatusPagesTests", ["Clocks", "Contracts", "StatusPages", "TestSupport"])
  ),
]

let package = Package(
  name: "roost",
  // SwiftPM makes a product of each program by itself. These it would not make.
  products: [
    // The library, and the modules whose types stand in it.
    .library(
      name: "RoostClient",
      targets: ["RoostClient", "EventLoop", "Addresses", "Nostr", "Cryptography", "Frames", "Contracts", "Bus"]),
    // Preloaded into roostd by ProcessTests: a library that nobody links, so it must be a product.
    .library(name: "FaultInjector", type: .dynamic, targets: ["FaultInjector"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    // For push-relay alone (docs/decisions/0014-push-relay.md)
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
  ],
  targets: rooms.flatMap(\.self)
)
