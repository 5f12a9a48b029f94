"""Made from docs/methods.json by generate.py (`make methods`): the types of Roost's methods."""

from typing import Any, Dict, List, Literal, overload
from typing_extensions import NotRequired, TypedDict
from roost.client import Stream, Subscription

class Event(TypedDict):
    id: str
    pubkey: str
    created_at: int
    kind: int
    tags: list[list[str]]
    content: str
    sig: str

class AccountForget(TypedDict):
    account: str
    keep: NotRequired[List[Any]]
    others: List[str]

class AccountForgotten(TypedDict):
    gone: List[AccountForgottenPart]
    keep: NotRequired[List[Any]]
    remark: NotRequired[str]

class AccountForgottenPart(TypedDict):
    count: int
    what: str

class ActiveObserve(TypedDict):
    exclusiveRelays: bool
    filters: List[Any]
    key: str
    maxAge: int
    needsNetwork: bool
    networkLimit: NotRequired[int]
    observers: int
    policy: Literal["cache-with-network", "cache-only", "network-only"]
    relays: List[str]
    trace: NotRequired[str]

class AttachGrant(TypedDict):
    command: str
    expiresMilliseconds: int
    name: str
    remark: NotRequired[str]
    role: str
    socket: str
    token: str

class AttachRequest(TypedDict):
    name: NotRequired[str]
    role: str

class AuthorDelivery(TypedDict):
    author: str
    events: int
    relays: List[AuthorDeliveryRelay]

class AuthorDeliveryRelay(TypedDict):
    had: int
    held: NotRequired[int]
    known: int
    relay: str
    seconds: int

class BackupHold(TypedDict):
    milliseconds: int

class BackupRead(TypedDict):
    file: str
    offset: int
    snapshot: str

class BackupRelease(TypedDict):
    isWhole: bool

class BackupSnapshot(TypedDict):
    files: List[str]
    snapshot: str

class BackupState(TypedDict):
    snapshot: str

class BackupStatus(TypedDict):
    count: int
    directory: NotRequired[str]
    isMaking: bool
    isSealed: bool
    last: NotRequired[BackupStatusBackup]
    leftOut: List[str]
    nextAt: NotRequired[int]
    reason: NotRequired[str]

class BackupStatusBackup(TypedDict):
    byteCount: int
    path: str
    time: int

class ClientStatus(TypedDict):
    mailboxFrames: int
    name: str
    outstanding: int
    pid: int

class CopyOutcomes(TypedDict):
    outcomes: List[CopyOutcomesOutcome]

class CopyOutcomesOutcome(TypedDict):
    id: str
    message: NotRequired[str]
    state: Literal["held", "refused", "gone", "failed"]

class CopyStatus(TypedDict):
    account: str
    copies: List[int]
    endedAt: NotRequired[int]
    events: int
    isRunning: bool
    nextAt: NotRequired[int]
    relays: List[CopyStatusRelay]
    repaired: int
    wanted: int

class CopyStatusRelay(TypedDict):
    comparedAt: NotRequired[int]
    left: int
    open: int
    reason: NotRequired[str]
    refused: int
    relay: str
    taken: int

class CoverageAdded(TypedDict):
    at: int
    filter: NotRequired[Any]
    isStoredEnd: bool
    key: str
    number: int
    relay: str
    since: NotRequired[int]
    until: NotRequired[int]

class CoveredFilter(TypedDict):
    fetchedAt: NotRequired[int]
    filter: int
    intervals: List[CoveredFilterInterval]
    part: NotRequired[Any]
    relay: str

class CoveredFilterInterval(TypedDict):
    checkedAt: int
    since: int
    until: int

class DeadLetterRecord(TypedDict):
    deliveries: int
    id: str
    isBase64: NotRequired[bool]
    isRaw: bool
    method: str
    payload: NotRequired[str]
    sender: str
    time: str
    trace: str
    worker: str

class DeadLettersRequest(TypedDict):
    action: str
    id: NotRequired[str]

class DeadLettersResult(TypedDict):
    answer: NotRequired[str]
    isAnswerBase64: NotRequired[bool]
    letters: List[DeadLetterRecord]
    sentence: NotRequired[str]

class DesiredSubscription(TypedDict):
    account: NotRequired[str]
    filters: List[Any]
    isBackfill: NotRequired[bool]
    isForeign: NotRequired[bool]
    isFresh: NotRequired[bool]
    isLive: bool
    key: str
    relay: str
    stored: NotRequired[Literal["none", "all"]]
    trace: NotRequired[str]

class DoctorResult(TypedDict):
    checks: List[DoctorResultCheck]

class DoctorResultCheck(TypedDict):
    isGood: bool
    isPending: NotRequired[bool]
    name: str
    text: str

class EditedList(TypedDict):
    account: str
    after: int
    before: int
    id: NotRequired[str]
    identifier: str
    isNew: bool
    kind: int
    silentRelays: NotRequired[List[str]]

class EntryEdit(TypedDict):
    add: NotRequired[List[str]]
    isPrivate: NotRequired[bool]
    remove: NotRequired[List[str]]
    set: NotRequired[str]
    unset: NotRequired[str]
    value: NotRequired[Any]

class EventCopies(TypedDict):
    account: str
    exception: NotRequired[str]
    id: str
    relays: List[EventCopiesRelay]

class EventCopiesRelay(TypedDict):
    at: NotRequired[int]
    reason: NotRequired[str]
    relay: str
    state: Literal["held", "lacking", "refused", "left", "unknown"]

class FeedState(TypedDict):
    account: str
    isFeedState: bool
    isListKnown: NotRequired[bool]
    people: NotRequired[int]
    privateMutes: Literal["none", "read", "locked", "foreign", "unreadable"]
    privatePeople: NotRequired[Literal["none", "read", "locked", "foreign", "unreadable"]]

class ForgetStep(TypedDict):
    gone: List[AccountForgottenPart]
    isDone: bool
    remark: NotRequired[str]
    step: str

class FoundPeople(TypedDict):
    people: List[FoundPerson]

class FoundPerson(TypedDict):
    field: Literal["petname", "display-name", "name", "nip05", "key", "profile"]
    isFollowed: bool
    nip05: NotRequired[str]
    petname: NotRequired[str]
    pubkey: str
    shownName: str
    way: Literal["exact", "beginning", "word", "inside"]

class HoldCommand(TypedDict):
    hold: NotRequired[bool]
    worker: str

class InboxItem(TypedDict):
    about: NotRequired[str]
    amountMillisatoshis: NotRequired[int]
    author: str
    event: Any
    seq: int
    sort: Literal["reply", "mention", "quote", "reaction", "repost", "zap"]
    text: NotRequired[str]
    wallet: NotRequired[str]

class IngestResult(TypedDict):
    deleted: int
    duplicate: int
    ephemeral: int
    expired: int
    invalid: List[IngestResultInvalid]
    invalidCount: int
    mended: NotRequired[int]
    seq: int
    stored: int
    storedByRelay: NotRequired[Dict[str, int]]
    superseded: int

class IngestResultInvalid(TypedDict):
    id: NotRequired[str]
    reason: str
    record: int
    relay: NotRequired[str]

class Job(TypedDict):
    account: str
    accountName: NotRequired[str]
    dependsOn: List[str]
    diagnostics: Dict[str, int]
    endedAt: NotRequired[int]
    id: str
    key: str
    kind: int
    nextDeadlineAt: NotRequired[int]
    providers: List[JobProviderState]
    reason: NotRequired[str]
    requests: List[JobRequestState]
    result: NotRequired[JobResultState]
    state: Literal["waiting", "drafted", "published", "processing", "payment-required", "delivered", "settled", "failed", "expired", "cancelled"]
    submittedAt: int

class JobDeadlines(TypedDict):
    answer: NotRequired[int]
    decision: NotRequired[int]
    delivery: NotRequired[int]
    publish: NotRequired[int]
    result: NotRequired[int]
    total: NotRequired[int]

class JobInputArgument(TypedDict):
    data: str
    marker: NotRequired[str]
    relay: NotRequired[str]
    type: str

class JobList(TypedDict):
    limit: NotRequired[int]
    states: NotRequired[List[Literal["waiting", "drafted", "published", "processing", "payment-required", "delivered", "settled", "failed", "expired", "cancelled"]]]

class JobPayments(TypedDict):
    amount: int
    count: int

class JobProvider(TypedDict):
    about: NotRequired[str]
    announcedAt: NotRequired[int]
    answered: int
    asked: int
    contradictions: int
    isHere: NotRequired[bool]
    kinds: List[int]
    medianMilliseconds: NotRequired[int]
    name: NotRequired[str]
    provider: str
    undelivered: int
    unpaid: int

class JobProviderState(TypedDict):
    amount: NotRequired[int]
    invoice: NotRequired[str]
    invoiceProblem: NotRequired[str]
    lastSignAt: NotRequired[int]
    message: NotRequired[str]
    partial: NotRequired[str]
    payment: NotRequired[Literal["asked", "approved", "paid", "denied"]]
    provider: str
    results: int
    state: Literal["asked", "processing", "partial", "payment-required", "delivered", "error", "silent"]
    zap: NotRequired[JobZapState]

class JobProviders(TypedDict):
    fetches: NotRequired[bool]
    kind: NotRequired[int]
    limit: NotRequired[int]

class JobReceiptState(TypedDict):
    author: str
    event: str
    proof: NotRequired[Literal["preimage", "wallet"]]

class JobReference(TypedDict):
    invoice: NotRequired[str]
    job: str
    preimage: NotRequired[str]
    provider: NotRequired[str]
    wallet: NotRequired[str]
    zap: NotRequired[bool]

class JobRequestState(TypedDict):
    confirmedRelays: int
    event: str
    isStored: bool
    providers: List[str]
    relays: int

class JobResultState(TypedDict):
    content: str
    createdAt: int
    event: str
    isCut: NotRequired[bool]
    provider: str

class JobSubmit(TypedDict):
    account: NotRequired[str]
    allowSecrets: NotRequired[bool]
    bid: NotRequired[int]
    choice: NotRequired[JobSubmitChoice]
    deadlines: NotRequired[JobDeadlines]
    encryption: NotRequired[Literal["none", "nip04", "nip44", "auto"]]
    inputs: NotRequired[List[JobInputArgument]]
    key: NotRequired[str]
    kind: int
    output: NotRequired[str]
    params: NotRequired[List[List[str]]]
    payment: NotRequired[JobSubmitPayment]
    providers: NotRequired[List[str]]
    reach: NotRequired[Literal["auto", "local", "relays"]]
    relays: NotRequired[List[str]]
    retries: NotRequired[int]
    topics: NotRequired[List[str]]
    turns: NotRequired[Literal["all", "one-by-one"]]

class JobSubmitChoice(TypedDict):
    agreement: NotRequired[int]
    window: NotRequired[int]

class JobSubmitPayment(TypedDict):
    dayMaximum: NotRequired[int]
    jobMaximum: NotRequired[int]
    mode: NotRequired[Literal["ask", "never", "auto"]]
    providerMaximum: NotRequired[int]

class JobZapState(TypedDict):
    address: NotRequired[str]
    amount: int
    lnurl: NotRequired[str]
    receipts: List[JobReceiptState]
    request: NotRequired[str]
    target: str

class KnownList(TypedDict):
    account: str
    checkedAt: NotRequired[int]
    content: str
    createdAt: NotRequired[int]
    id: NotRequired[str]
    identifier: str
    kind: int
    privateProblem: NotRequired[str]
    privateTags: NotRequired[List[List[str]]]
    silentRelays: NotRequired[List[str]]
    tags: List[List[str]]

class KnownProfile(TypedDict):
    about: NotRequired[str]
    askedAt: NotRequired[int]
    banner: NotRequired[str]
    bot: NotRequired[bool]
    claim: NotRequired[Literal["verified", "another", "unknown", "unreachable"]]
    createdAt: NotRequired[int]
    displayName: NotRequired[str]
    fault: NotRequired[str]
    lud16: NotRequired[str]
    name: NotRequired[str]
    nip05: NotRequired[str]
    picture: NotRequired[str]
    pubkey: str
    shownName: str
    state: Literal["known", "absent", "unreadable"]
    website: NotRequired[str]

class LinkChange(TypedDict):
    account: str
    conversation: NotRequired[str]
    id: NotRequired[str]
    notice: NotRequired[LinkChangeNotice]

class LinkChangeNotice(TypedDict):
    body: str
    title: str

class LinkContact(TypedDict):
    name: str
    publicKey: str
    relays: List[str]
    sessions: NotRequired[bool]

class LinkConversationRow(TypedDict):
    contact: NotRequired[str]
    id: str
    isSession: NotRequired[bool]
    lastAt: int
    members: List[str]
    name: NotRequired[str]
    place: str
    posts: int
    unread: int

class LinkReactionRow(TypedDict):
    author: str
    emoji: str

class LinkRow(TypedDict):
    about: NotRequired[str]
    at: int
    author: str
    conversation: str
    id: str
    isLegacy: NotRequired[bool]
    isOwn: bool
    isUnread: bool
    label: NotRequired[str]
    place: str
    problem: NotRequired[str]
    reactions: NotRequired[List[LinkReactionRow]]
    replies: NotRequired[int]
    sort: Literal["post", "reply", "message", "file"]
    stage: NotRequired[Literal["kept", "queued", "sent", "failed", "partly"]]
    subject: NotRequired[str]
    text: NotRequired[str]
    unreadReplies: NotRequired[int]
    url: NotRequired[str]

class LinksContact(TypedDict):
    account: NotRequired[str]
    name: NotRequired[str]
    publicKey: str
    relays: NotRequired[List[str]]
    remove: NotRequired[bool]
    sessions: NotRequired[bool]

class LinksContacts(TypedDict):
    account: NotRequired[str]

class LinksList(TypedDict):
    account: NotRequired[str]
    before: NotRequired[str]
    limit: NotRequired[int]
    unread: NotRequired[bool]

class LinksPost(TypedDict):
    account: NotRequired[str]
    givesUp: NotRequired[bool]
    note: NotRequired[str]
    session: NotRequired[str]
    to: str
    token: NotRequired[str]
    url: str
    waitMilliseconds: NotRequired[int]

class LinksRead(TypedDict):
    account: NotRequired[str]
    conversation: NotRequired[str]
    newest: NotRequired[str]
    oldest: NotRequired[str]
    post: NotRequired[str]

class LinksReply(TypedDict):
    account: NotRequired[str]
    givesUp: NotRequired[bool]
    post: str
    text: str
    token: NotRequired[str]
    waitMilliseconds: NotRequired[int]

class LinksShow(TypedDict):
    account: NotRequired[str]
    before: NotRequired[str]
    conversation: NotRequired[str]
    limit: NotRequired[int]
    post: NotRequired[str]

class LinksStatus(TypedDict):
    accounts: List[LinksStatusAccount]
    fault: NotRequired[str]
    sending: NotRequired[Literal["no-relays", "offline", "read-only", "reconnecting", "idle", "online"]]

class LinksStatusAccount(TypedDict):
    isOpen: bool
    name: str
    publicKey: str
    refused: int
    unsent: int
    usesLinks: bool
    wraps: int

class ListVersionRow(TypedDict):
    createdAt: int
    entries: int
    id: str
    isOurs: bool
    isWaiting: bool
    problem: NotRequired[str]

class LocalRelayClient(TypedDict):
    address: str
    agent: NotRequired[str]
    authenticated: List[str]
    delivered: int
    isAdmitted: bool
    number: int
    origin: NotRequired[str]
    since: NotRequired[int]
    subscriptions: int
    taken: int

class LocalRelayClients(TypedDict):
    allowed: List[str]
    clients: List[LocalRelayClient]
    others: int

class LocalRelayOrigin(TypedDict):
    origin: str

class LocalRelayOrigins(TypedDict):
    allowed: List[str]

class LocalRelayOutsider(TypedDict):
    count: int
    uid: int

class LocalRelayStatus(TypedDict):
    accepted: int
    addresses: List[str]
    connections: int
    connectionsMaximum: int
    delivered: int
    displaced: NotRequired[int]
    displacedSecondsAgo: NotRequired[int]
    everywhere: NotRequired[List[str]]
    knowsUsers: NotRequired[bool]
    outside: NotRequired[int]
    outsideMaximum: NotRequired[int]
    outsideProxied: NotRequired[int]
    outsideUnknown: NotRequired[int]
    outsideUsers: NotRequired[int]
    outsiders: NotRequired[List[LocalRelayOutsider]]
    refused: int
    subscriptions: int
    taken: int
    turnedAway: int
    turnedAwaySecondsAgo: NotRequired[int]

class LogLevelRequest(TypedDict):
    category: str
    level: str

class LogLevelResult(TypedDict):
    category: str
    level: str
    remark: NotRequired[str]

class LogRecord(TypedDict):
    category: str
    fields: NotRequired[Dict[str, str]]
    level: str
    message: str
    time: str
    worker: str

class LogsRequest(TypedDict):
    follow: NotRequired[bool]
    lines: NotRequired[int]
    trace: NotRequired[str]
    worker: NotRequired[str]

class MessagesSend(TypedDict):
    account: NotRequired[str]
    givesUp: NotRequired[bool]
    legacy: NotRequired[bool]
    replyTo: NotRequired[str]
    subject: NotRequired[str]
    text: str
    to: List[str]
    token: NotRequired[str]
    waitMilliseconds: NotRequired[int]

class MirrorCopies(TypedDict):
    id: str

class MirrorScrub(TypedDict):
    account: NotRequired[str]
    relay: NotRequired[str]

class MirrorStatus(TypedDict):
    bounds: List[MirrorStatusBound]
    copies: List[CopyStatus]
    entries: List[MirrorStatusEntry]
    peers: List[PeerStatus]

class MirrorStatusBound(TypedDict):
    byteMaximum: int
    bytes: NotRequired[int]
    kind: Literal["own", "named", "wraps", "follows", "keep"]
    name: NotRequired[str]
    since: NotRequired[int]

class MirrorStatusEntry(TypedDict):
    account: NotRequired[str]
    end: NotRequired[Literal["complete", "events", "time"]]
    events: int
    isFetching: bool
    kind: Literal["own", "named", "wraps", "follows", "keep"]
    name: NotRequired[str]
    nextAt: NotRequired[int]
    relays: List[MirrorStatusRelay]
    since: NotRequired[int]

class MirrorStatusRelay(TypedDict):
    comparedAt: NotRequired[int]
    reason: NotRequired[str]
    relay: str
    since: NotRequired[int]
    state: NotRequired[Literal["waiting", "asked", "stored", "refused"]]

class MirrorSync(TypedDict):
    peer: NotRequired[str]

class NameClaim(TypedDict):
    checkedAt: int
    name: str
    otherPubkey: NotRequired[str]
    pubkey: str
    reason: NotRequired[str]
    verdict: Literal["verified", "another", "unknown", "unreachable"]

class NameResolve(TypedDict):
    name: str

class ObserveChanges(TypedDict):
    changed: List[ActiveObserve]
    generation: int
    removed: List[str]
    version: int

class ObserveListEnd(TypedDict):
    count: int
    generation: int
    version: int

class ObserveProgress(TypedDict):
    isComplete: bool
    isObserved: bool
    relays: List[ObserveProgressRelay]

class ObserveProgressRelay(TypedDict):
    events: int
    reason: NotRequired[str]
    relay: str
    state: Literal["waiting", "asked", "stored", "refused"]

class ObservedEvent(TypedDict):
    event: Any
    relay: NotRequired[str]
    seq: NotRequired[int]

class PageAddress(TypedDict):
    address: str
    seconds: int

class PageEnter(TypedDict):
    link: NotRequired[str]

class PeerStatus(TypedDict):
    fetched: int
    isRunning: bool
    learned: int
    nextAt: NotRequired[int]
    peer: str
    reason: NotRequired[str]
    sameAt: NotRequired[int]
    sent: int

class PeopleEdit(TypedDict):
    account: NotRequired[str]
    changes: List[EntryEdit]
    fromHere: NotRequired[bool]
    identifier: NotRequired[str]
    isMeant: NotRequired[bool]
    kind: int
    undo: NotRequired[str]

class PeopleFeed(TypedDict):
    account: NotRequired[str]
    afterSeq: NotRequired[int]
    kinds: NotRequired[List[int]]
    limit: NotRequired[int]
    pages: NotRequired[bool]
    policy: NotRequired[Literal["cache-with-network", "cache-only", "network-only"]]
    set: NotRequired[str]

class PeopleFind(TypedDict):
    account: NotRequired[str]
    limit: NotRequired[int]
    text: str

class PeopleForget(TypedDict):
    account: str

class PeopleForgotten(TypedDict):
    gone: List[AccountForgottenPart]
    relays: List[SourceRelaysRelay]
    remarks: List[str]

class PeopleInbox(TypedDict):
    account: NotRequired[str]
    afterSeq: NotRequired[int]
    limit: NotRequired[int]
    only: NotRequired[List[Literal["reply", "mention", "quote", "reaction", "repost", "zap"]]]
    policy: NotRequired[Literal["cache-with-network", "cache-only", "network-only"]]

class PeopleList(TypedDict):
    account: NotRequired[str]
    id: NotRequired[str]
    identifier: NotRequired[str]
    isFresh: NotRequired[bool]
    kind: int

class PeopleName(TypedDict):
    name: NotRequired[str]
    pubkey: str

class PeopleProfiles(TypedDict):
    keys: List[str]
    live: NotRequired[bool]
    maxAge: NotRequired[int]
    policy: NotRequired[Literal["cache-with-network", "cache-only", "network-only"]]

class PeopleStatus(TypedDict):
    lists: int
    versions: int
    waiting: int

class PeopleVersions(TypedDict):
    account: NotRequired[str]
    identifier: NotRequired[str]
    kind: int

class PlanCopy(TypedDict):
    account: NotRequired[str]
    ids: List[str]
    relay: str

class PlanPublication(TypedDict):
    id: str
    relay: NotRequired[str]

class PlanPublications(TypedDict):
    ids: NotRequired[List[str]]
    limit: NotRequired[int]
    olderThan: NotRequired[int]
    states: NotRequired[List[Literal["optimistic", "partial", "confirmed", "failed", "cancelled"]]]

class PlanPublish(TypedDict):
    agreedRelays: NotRequired[List[str]]
    event: Any
    expiresAfter: NotRequired[int]
    foreignRelays: NotRequired[List[str]]
    relays: NotRequired[List[str]]
    replace: NotRequired[bool]

class PlanRelay(TypedDict):
    reads: NotRequired[bool]
    relay: str
    writes: NotRequired[bool]

class PlanRelayList(TypedDict):
    indexers: NotRequired[List[str]]
    relays: List[PlanRelayListRelay]

class PlanRelayListRelay(TypedDict):
    connector: NotRequired[str]
    reads: bool
    relay: str
    sources: List[str]
    state: NotRequired[RelayStatesRelay]
    writes: bool

class PlanReplaced(TypedDict):
    forget: NotRequired[bool]
    id: NotRequired[str]

class PlanRetryUnsent(TypedDict):
    olderThan: int
    withFailed: NotRequired[bool]

class PlanRoute(TypedDict):
    event: NotRequired[Any]
    filters: NotRequired[List[Any]]

class PlanStatus(TypedDict):
    ephemeralRelays: int
    fault: NotRequired[str]
    inFlight: int
    observes: int
    overdue: NotRequired[int]
    overdueRelays: NotRequired[List[str]]
    publications: Dict[str, int]
    requests: int
    sending: NotRequired[Literal["no-relays", "offline", "read-only", "reconnecting", "idle", "online"]]
    shrunkLists: NotRequired[List[ReplacedList]]
    silentConnectors: NotRequired[List[str]]
    waitingForConnectors: NotRequired[int]

class PlanWant(TypedDict):
    depth: NotRequired[Literal["all", "newest"]]
    eventMaximum: NotRequired[int]
    exclusiveRelays: NotRequired[bool]
    filters: List[Any]
    foreignRelays: NotRequired[List[str]]
    relays: NotRequired[List[str]]
    seconds: NotRequired[int]
    urgency: NotRequired[Literal["look-up", "backfill"]]

class PlanWantResult(TypedDict):
    end: Literal["complete", "events", "time"]
    events: int
    relays: List[ObserveProgressRelay]

class ProfilePage(TypedDict):
    asked: NotRequired[ProfilesAsked]
    profiles: List[KnownProfile]

class ProfilesAsked(TypedDict):
    count: int
    failed: NotRequired[int]
    reason: NotRequired[str]

class Publication(TypedDict):
    acceptedAt: int
    author: str
    expiresAt: int
    id: str
    kind: int
    remarks: NotRequired[List[str]]
    state: Literal["optimistic", "partial", "confirmed", "failed", "cancelled"]
    targets: List[PublicationTarget]

class PublicationExchange(TypedDict):
    account: str
    after: int
    publications: List[Publication]

class PublicationTarget(TypedDict):
    attempts: int
    confirmedAt: NotRequired[int]
    message: NotRequired[str]
    nextAttemptAt: NotRequired[int]
    relay: str
    state: Literal["pending", "sent", "confirmed", "failed", "cancelled"]
    why: str

class PublishResult(TypedDict):
    id: str
    isMended: NotRequired[bool]
    isNew: bool
    seq: NotRequired[int]

class PublishedNews(TypedDict):
    isComplete: bool
    next: int
    publications: List[Publication]

class PushDeviceRow(TypedDict):
    capabilities: List[str]
    device: str
    expiresAt: int
    isReadable: bool
    isSealed: NotRequired[bool]
    isVerified: bool
    owner: str
    platform: str
    registeredAt: int
    relayID: str

class PushDevices(TypedDict):
    limit: NotRequired[int]
    owner: NotRequired[str]

class PushRekeyed(TypedDict):
    changed: int
    keys: int
    remaining: int
    unreadable: int

class PushSend(TypedDict):
    owner: str
    type: str
    waitMilliseconds: NotRequired[int]

class PushSent(TypedDict):
    devices: int
    outcomes: NotRequired[List[PushSentOutcome]]
    wake: str

class PushSentOutcome(TypedDict):
    advice: NotRequired[str]
    device: str
    platform: str
    reason: NotRequired[str]
    state: str

class PushStatus(TypedDict):
    accepted: int
    addresses: List[str]
    certificateFault: NotRequired[str]
    countedSince: int
    devices: int
    dropped: int
    ended: Dict[str, int]
    events: NotRequired[PushStatusEvents]
    platforms: List[PushStatusPlatform]
    refused: Dict[str, int]
    underOlderKeys: int
    unreadable: int
    waiting: int
    webPushFault: NotRequired[str]

class PushStatusEvents(TypedDict):
    devices: int
    dismissed: Dict[str, int]
    keys: int
    state: str
    wakes: int
    waking: int

class PushStatusPlatform(TypedDict):
    advice: NotRequired[str]
    againSeconds: NotRequired[int]
    delivered: int
    expired: int
    failed: int
    inFlight: int
    name: str
    pruned: int
    reason: NotRequired[str]
    repeated: int
    state: str

class ReconcileBegin(TypedDict):
    filter: Any
    messageByteMaximum: NotRequired[int]
    namesAbsent: NotRequired[bool]
    relay: str

class ReconcileClose(TypedDict):
    session: int

class ReconcileCounts(TypedDict):
    common: int
    fetched: int
    needed: int
    receivedBytes: int
    sentBytes: int
    unavailable: int
    windows: int

class ReconcileEnd(TypedDict):
    records: int

class ReconcileFound(TypedDict):
    common: int
    records: int

class ReconcileOpen(TypedDict):
    filter: Any
    message: str
    recipients: NotRequired[List[str]]

class RecordProgress(TypedDict):
    isRecording: bool
    path: str

class RecordRequest(TypedDict):
    bytes: NotRequired[int]
    ends: NotRequired[bool]
    milliseconds: NotRequired[int]
    path: NotRequired[str]
    restart: NotRequired[bool]
    worker: str

class RecordResult(TypedDict):
    bytes: int
    framesFromWorker: int
    framesMissing: int
    framesToWorker: int
    isReplayable: bool
    path: str
    reason: str
    sentence: str
    worker: str

class RelayCount(TypedDict):
    account: NotRequired[str]
    filter: Any
    isForeign: NotRequired[bool]
    relay: NotRequired[str]

class RelayCounted(TypedDict):
    count: int
    isApproximate: bool
    relay: str

class RelayDesire(TypedDict):
    base: NotRequired[int]
    changed: List[DesiredSubscription]
    generation: int
    removed: List[str]
    version: int

class RelayDesireResult(TypedDict):
    version: int

class RelayInformationRequest(TypedDict):
    isForeign: NotRequired[bool]
    relay: str

class RelayInformationResult(TypedDict):
    bounds: NotRequired[List[RelayInformationResultBound]]
    document: Any
    dropped: List[str]
    fetchedAt: int
    relay: str

class RelayInformationResultBound(TypedDict):
    name: str
    source: Literal["assumed", "said", "learned"]
    value: int

class RelayPublications(TypedDict):
    account: str
    after: int
    publications: List[Publication]
    relay: str

class RelayPublish(TypedDict):
    account: NotRequired[str]
    event: Any
    isForeign: NotRequired[bool]
    isProtected: NotRequired[bool]
    relay: NotRequired[str]

class RelayPublishResult(TypedDict):
    id: str
    isAccepted: bool
    message: str
    relay: str

class RelayReconcile(TypedDict):
    account: NotRequired[str]
    countsOnly: NotRequired[bool]
    filter: Any
    isForeign: NotRequired[bool]
    relay: NotRequired[str]
    since: NotRequired[int]
    until: NotRequired[int]

class RelayReconcileResult(TypedDict):
    counts: ReconcileCounts
    end: Literal["complete", "unsupported", "failed"]
    reason: NotRequired[str]
    relay: str

class RelayRemark(TypedDict):
    about: NotRequired[str]
    at: int
    count: int
    kind: Literal["refused-request", "refused-event", "auth-wall", "capped", "notice"]
    limit: NotRequired[int]
    text: str

class RelayReport(TypedDict):
    dialsOthers: NotRequired[bool]
    generation: NotRequired[int]
    isWhole: bool
    relays: List[RelayStatesRelay]
    requests: List[RequestReport]
    version: NotRequired[int]

class RelayRequest(TypedDict):
    all: NotRequired[bool]
    filters: NotRequired[List[Any]]
    isForeign: NotRequired[bool]
    limit: NotRequired[int]
    relay: NotRequired[str]

class RelayRequestResult(TypedDict):
    end: NotRequired[Literal["drained", "capped", "silent", "cut", "refused", "cancelled"]]
    events: int
    isComplete: bool
    reason: NotRequired[str]
    relay: str

class RelayRetry(TypedDict):
    onlyBackOff: NotRequired[bool]
    relay: str

class RelayStates(TypedDict):
    latencies: NotRequired[RelayStatesLatencies]
    outside: NotRequired[RelayStatesOutside]
    relays: List[RelayStatesRelay]

class RelayStatesLatencies(TypedDict):
    accepted: RelayStatesLatency
    connect: RelayStatesLatency
    stored: RelayStatesLatency

class RelayStatesLatency(TypedDict):
    counts: List[int]
    sumMicroseconds: int

class RelayStatesOutside(TypedDict):
    dials: int
    ended: int
    milliseconds: int
    newEvents: int

class RelayStatesRelay(TypedDict):
    accepted: int
    authenticate: NotRequired[Literal["account", "throw-away", "never"]]
    authenticated: List[str]
    authenticationFailures: NotRequired[int]
    authentications: NotRequired[int]
    bytes: int
    connectMilliseconds: NotRequired[int]
    connections: int
    dialledMilliseconds: NotRequired[int]
    drains: NotRequired[Dict[str, int]]
    events: int
    failures: int
    failuresInRow: NotRequired[int]
    forgedEvents: NotRequired[int]
    invalidEvents: NotRequired[int]
    isConfigured: bool
    latencyMilliseconds: NotRequired[int]
    mayRefuseWrites: NotRequired[bool]
    messages: int
    newEvents: NotRequired[int]
    openMilliseconds: int
    openSince: NotRequired[int]
    pages: NotRequired[int]
    queuedCount: NotRequired[int]
    reads: bool
    reason: NotRequired[str]
    refusals: int
    refusalsByClass: NotRequired[Dict[str, int]]
    relay: str
    remarks: NotRequired[List[RelayRemark]]
    state: Literal["open", "connecting", "waiting", "closing", "idle", "quarantined"]
    storedMilliseconds: NotRequired[int]
    subscriptionCount: NotRequired[int]
    subscriptionMaximum: NotRequired[int]
    waitsForBudget: NotRequired[bool]
    writes: bool

class ReloadRequest(TypedDict):
    dryRun: NotRequired[bool]

class ReloadResult(TypedDict):
    changes: List[str]
    isApplied: bool
    remarks: NotRequired[List[str]]
    warnings: NotRequired[List[str]]

class ReplacedList(TypedDict):
    account: NotRequired[str]
    after: int
    author: str
    before: int
    event: NotRequired[Any]
    id: str
    identifier: str
    kind: int
    replacedAt: int

class RequestReport(TypedDict):
    end: NotRequired[Literal["drained", "capped", "silent", "cut", "refused", "cancelled"]]
    events: int
    isAboutRelay: NotRequired[bool]
    key: str
    pages: NotRequired[int]
    reason: NotRequired[str]
    relay: str
    state: Literal["waiting", "asked", "stored", "refused"]
    storedAt: NotRequired[int]

class ResolvedName(TypedDict):
    fetchedAt: int
    name: str
    pubkey: str
    relays: List[str]

class RetriedPublications(TypedDict):
    oldestAt: NotRequired[int]
    publications: int
    relays: int

class Route(TypedDict):
    cover: NotRequired[RouteCover]
    problem: NotRequired[str]
    skipped: List[RouteStop]
    stops: List[RouteStop]

class RouteCover(TypedDict):
    counts: List[int]
    missing: List[str]
    missingCount: int
    unlisted: List[str]
    unlistedCount: int

class RouteStop(TypedDict):
    connector: NotRequired[str]
    people: List[str]
    peopleCount: NotRequired[int]
    reason: NotRequired[str]
    relay: str
    state: NotRequired[Literal["open", "connecting", "waiting", "closing", "idle", "quarantined"]]
    why: List[str]

class SealedSecret(TypedDict):
    key: str
    payload: str

class SeenResult(TypedDict):
    id: str
    relays: List[SeenResultRelay]
    seq: int

class SeenResultRelay(TypedDict):
    firstSeenAt: int
    relay: str

class SentLink(TypedDict):
    conversation: str
    copies: List[SentLinkCopy]
    id: str
    remarks: List[str]
    session: NotRequired[str]
    stage: Literal["kept", "queued", "sent", "failed", "partly"]

class SentLinkCopy(TypedDict):
    message: NotRequired[str]
    recipient: str
    relays: List[str]
    stage: Literal["kept", "queued", "sent", "failed", "partly"]
    wrap: str

class ServedJob(TypedDict):
    customer: str
    endedAt: NotRequired[int]
    kind: int
    reason: NotRequired[str]
    request: str
    result: NotRequired[str]
    state: Literal["waiting", "payment-required", "running", "answering", "answered", "failed", "cancelled"]
    takenAt: int

class ServedJobs(TypedDict):
    limit: NotRequired[int]

class ServingStatus(TypedDict):
    countedSince: int
    isOnNetwork: bool
    passedOver: int
    provider: NotRequired[str]
    services: List[ServingStatusService]
    unpaid: int
    waiting: int

class ServingStatusService(TypedDict):
    answered: int
    failed: int
    kind: int
    price: int
    program: str
    running: int
    taken: int

class SignerAccount(TypedDict):
    createdAt: int
    isEncrypted: bool
    isForgetting: NotRequired[bool]
    isLeft: NotRequired[bool]
    isReadOnly: NotRequired[bool]
    isUsed: NotRequired[bool]
    name: str
    npub: str
    origin: Literal["file", "credential"]
    publicKey: str
    state: Literal["locked", "unlocked"]

class SignerAccounts(TypedDict):
    accounts: List[SignerAccount]
    isMemoryLocked: bool
    problems: List[str]
    refused: List[SignerRefusedKey]
    sealingKey: str
    waiting: int

class SignerAuthenticate(TypedDict):
    account: NotRequired[str]
    challenge: str
    relay: str

class SignerChanges(TypedDict):
    accounts: List[SignerAccount]

class SignerChoose(TypedDict):
    account: str

class SignerCipher(TypedDict):
    account: NotRequired[str]
    event: NotRequired[Any]
    peer: str
    text: NotRequired[str]

class SignerDataKey(TypedDict):
    account: str
    key: SealedSecret
    text: str

class SignerDataKeyRequest(TypedDict):
    account: NotRequired[str]
    sealingKey: str
    text: NotRequired[str]

class SignerGenerate(TypedDict):
    name: str
    passphrase: NotRequired[SealedSecret]

class SignerImport(TypedDict):
    isLeft: NotRequired[bool]
    name: str
    passphrase: NotRequired[SealedSecret]
    secret: SealedSecret

class SignerLeave(TypedDict):
    account: str
    isForgetting: NotRequired[bool]

class SignerLock(TypedDict):
    account: NotRequired[str]

class SignerPassphrase(TypedDict):
    account: NotRequired[str]
    new: NotRequired[SealedSecret]
    present: NotRequired[SealedSecret]

class SignerRefusedKey(TypedDict):
    account: str
    place: str
    reason: str
    remedy: str

class SignerRemove(TypedDict):
    name: str
    publicKey: str

class SignerSign(TypedDict):
    account: NotRequired[str]
    allowSecrets: NotRequired[bool]
    deleted: NotRequired[List[Any]]
    event: Any

class SignerSigned(TypedDict):
    event: Any

class SignerText(TypedDict):
    text: str

class SignerUnlock(TypedDict):
    account: NotRequired[str]
    passphrase: NotRequired[SealedSecret]

class SignerUnwrap(TypedDict):
    account: NotRequired[str]
    wrap: Any

class SignerUnwrapped(TypedDict):
    author: str
    recipient: str
    rumor: Any
    warnings: List[str]

class SignerWatch(TypedDict):
    name: str
    publicKey: str

class SignerWrap(TypedDict):
    account: NotRequired[str]
    allowSecrets: NotRequired[bool]
    expiration: NotRequired[int]
    isEphemeral: NotRequired[bool]
    recipient: str
    relayHint: NotRequired[str]
    rumor: Any

class SignerWrapped(TypedDict):
    rumor: Any
    wrap: Any

class SourceRelays(TypedDict):
    relays: List[SourceRelaysRelay]

class SourceRelaysRelay(TypedDict):
    events: int
    relay: str

class StatusRequest(TypedDict):
    memory: NotRequired[bool]

class StopCommand(TypedDict):
    drainMilliseconds: NotRequired[int]
    worker: str

class StoreAcknowledge(TypedDict):
    id: str
    seq: int

class StoreCount(TypedDict):
    bytes: NotRequired[int]
    count: int
    isComplete: NotRequired[bool]
    oldest: NotRequired[int]
    unsearched: NotRequired[int]

class StoreCoverage(TypedDict):
    filters: List[Any]
    inParts: NotRequired[bool]
    relays: NotRequired[List[str]]

class StoreDelivery(TypedDict):
    authors: List[str]
    kinds: NotRequired[List[int]]
    since: int
    until: int

class StoreFetched(TypedDict):
    at: NotRequired[int]
    filters: List[Any]
    relays: NotRequired[List[str]]

class StoreObserve(TypedDict):
    afterSeq: NotRequired[int]
    exclusiveRelays: NotRequired[bool]
    filters: List[Any]
    id: NotRequired[str]
    maxAge: NotRequired[int]
    networkLimit: NotRequired[int]
    pages: NotRequired[bool]
    policy: NotRequired[Literal["cache-with-network", "cache-only", "network-only"]]
    recipients: NotRequired[List[str]]
    relays: NotRequired[List[str]]
    superseded: NotRequired[bool]

class StoreQuery(TypedDict):
    bytes: NotRequired[bool]
    filters: List[Any]
    limit: NotRequired[int]
    pages: NotRequired[bool]
    recipients: NotRequired[List[str]]

class StoreSeen(TypedDict):
    id: str

class StoreSources(TypedDict):
    authors: List[str]

class StoreStatus(TypedDict):
    bytes: int
    damaged: NotRequired[int]
    duplicates: int
    events: int
    evicted: int
    fault: NotRequired[str]
    foreignBytes: NotRequired[int]
    invalid: int
    isFull: NotRequired[bool]
    limitBytes: NotRequired[int]
    lost: NotRequired[StoreStatusSeqRange]
    observers: int
    path: str
    relays: List[StoreStatusRelay]
    rescued: NotRequired[StoreStatusRescue]
    seq: int
    transactions: int
    unchecked: int
    unsearched: int
    usedBytes: int
    verified: int
    waiting: List[int]

class StoreStatusRelay(TypedDict):
    forged: int
    isDistrusted: bool
    relay: str
    valid: int

class StoreStatusRescue(TypedDict):
    aside: str
    at: int
    lost: NotRequired[int]
    saved: int

class StoreStatusSeqRange(TypedDict):
    first: int
    last: int

class StoreTrim(TypedDict):
    bytes: int
    filters: List[Any]
    keep: NotRequired[List[Any]]
    spared: NotRequired[List[str]]

class StoreTrimmed(TypedDict):
    bytes: int
    isComplete: bool
    removed: int
    since: NotRequired[int]
    sparedSince: NotRequired[int]

class StoreUnseen(TypedDict):
    author: str
    besides: NotRequired[List[str]]

class StoredEnd(TypedDict):
    isComplete: NotRequired[bool]
    isStoredEnd: bool
    seq: int
    unsearched: NotRequired[int]

class SupervisorConfigurationFile(TypedDict):
    folders: List[str]
    path: NotRequired[str]
    text: str

SupervisorEvent = TypedDict('SupervisorEvent', {'from': Literal["stopped", "waiting", "starting", "ready", "draining", "stopping", "backoff", "exec-failed", "failed", "held", "attached", "exited", "absent"], 'sentence': str, 'time': str, 'to': Literal["stopped", "waiting", "starting", "ready", "draining", "stopping", "backoff", "exec-failed", "failed", "held", "attached", "exited", "absent"], 'worker': str})

class SupervisorStatus(TypedDict):
    clients: List[ClientStatus]
    configuration: str
    counters: Dict[str, int]
    deadLetters: int
    keptBytes: int
    latestDeadLetters: NotRequired[List[DeadLetterRecord]]
    pid: int
    residentBytes: NotRequired[int]
    socket: str
    uptimeMilliseconds: int
    version: str
    workers: List[WorkerStatus]

class SupervisorVersion(TypedDict):
    protocolVersion: int
    version: str

class TrackingStatus(TypedDict):
    answers: int
    approvedToday: int
    diagnostics: Dict[str, int]
    fault: NotRequired[str]
    jobs: Dict[str, int]
    openPayments: JobPayments
    payments: Dict[str, JobPayments]
    results: int
    seq: int
    unpaid: JobPayments
    unseen: int

class WhyRequest(TypedDict):
    worker: str

class WhyResult(TypedDict):
    complaint: NotRequired[str]
    lastLines: List[LogRecord]
    sentences: List[str]
    state: Literal["stopped", "waiting", "starting", "ready", "draining", "stopping", "backoff", "exec-failed", "failed", "held", "attached", "exited", "absent"]
    worker: str

class WorkerCommand(TypedDict):
    worker: str

class WorkerCommandResult(TypedDict):
    sentence: str
    state: Literal["stopped", "waiting", "starting", "ready", "draining", "stopping", "backoff", "exec-failed", "failed", "held", "attached", "exited", "absent"]
    worker: str

class WorkerStatus(TypedDict):
    busyMilliseconds: NotRequired[int]
    droppedLogLines: int
    generation: int
    inHand: int
    lastExit: NotRequired[str]
    mailboxFrames: int
    name: str
    nextAttemptMilliseconds: NotRequired[int]
    pid: NotRequired[int]
    proportionalBytes: NotRequired[int]
    residentBytes: NotRequired[int]
    restartLimit: int
    restarts: int
    role: str
    sandbox: NotRequired[str]
    sinceMilliseconds: int
    state: Literal["stopped", "waiting", "starting", "ready", "draining", "stopping", "backoff", "exec-failed", "failed", "held", "attached", "exited", "absent"]
    text: NotRequired[str]

class BackupMethods:
    def end(self, *, snapshot: str) -> None:
        "The state is no longer needed."
    def hold(self, *, milliseconds: int) -> BackupSnapshot:
        "The worker's writers wait, and the present state of its files is kept. For the supervisor's own user only."
    def read(self, *, file: str, offset: int, snapshot: str) -> Stream[bytes, None]:
        "A file of a state, from any byte on."
    def release(self, *, snapshot: str) -> BackupRelease:
        "The writers continue; says whether they have waited until now."
    def status(self) -> BackupStatus:
        "When the last backup was made, when the next one is due, and why one was not made."

class DvmMethods:
    def jobs(self, *, limit: int | None = None) -> Stream[ServedJob, StoreCount]:
        "Requests for jobs that were taken up, the latest first."
    def status(self) -> ServingStatus:
        "Figures of the jobs that are done for others. Counters begin with the process."

class JobMethods:
    def approve(self, *, job: str, invoice: str | None = None, preimage: str | None = None, provider: str | None = None, wallet: str | None = None, zap: bool | None = None) -> Job:
        "Approves the payment that a provider asks for, or hands in the proof of one."
    def cancel(self, *, job: str, invoice: str | None = None, preimage: str | None = None, provider: str | None = None, wallet: str | None = None, zap: bool | None = None) -> Job:
        "Calls a job off."
    def deny(self, *, job: str, invoice: str | None = None, preimage: str | None = None, provider: str | None = None, wallet: str | None = None, zap: bool | None = None) -> Job:
        "Denies the payment that a provider asks for."
    def follow(self, *, job: str, invoice: str | None = None, preimage: str | None = None, provider: str | None = None, wallet: str | None = None, zap: bool | None = None) -> Stream[Job, None]:
        "A job at once and at each change, until its state is final or the caller cancels."
    def list(self, *, limit: int | None = None, states: List[Literal["waiting", "drafted", "published", "processing", "payment-required", "delivered", "settled", "failed", "expired", "cancelled"]] | None = None) -> Stream[Job, StoreCount]:
        "Jobs, the latest first."
    def providers(self, *, fetches: bool | None = None, kind: int | None = None, limit: int | None = None) -> Stream[JobProvider, StoreCount]:
        "Providers of jobs, as announced (NIP-89), and what is known of them here."
    def show(self, *, job: str, invoice: str | None = None, preimage: str | None = None, provider: str | None = None, wallet: str | None = None, zap: bool | None = None) -> Job:
        "One job."
    def status(self) -> TrackingStatus:
        "Figures of the jobs."
    def submit(self, *, kind: int, account: str | None = None, allowSecrets: bool | None = None, bid: int | None = None, choice: JobSubmitChoice | None = None, deadlines: JobDeadlines | None = None, encryption: Literal["none", "nip04", "nip44", "auto"] | None = None, inputs: List[JobInputArgument] | None = None, key: str | None = None, output: str | None = None, params: List[List[str]] | None = None, payment: JobSubmitPayment | None = None, providers: List[str] | None = None, reach: Literal["auto", "local", "relays"] | None = None, relays: List[str] | None = None, retries: int | None = None, topics: List[str] | None = None, turns: Literal["all", "one-by-one"] | None = None) -> Job:
        "Orders a job from data vending machines (NIP-90). Answered when it is committed."

class LinksMethods:
    def contact(self, *, publicKey: str, account: str | None = None, name: str | None = None, relays: List[str] | None = None, remove: bool | None = None, sessions: bool | None = None) -> LinkContact:
        "Adds a contact, changes it, or removes it. Contacts are on this machine only."
    def contacts(self, *, account: str | None = None) -> Stream[LinkContact, StoreCount]:
        "The contacts of an account, by name."
    def list(self, *, account: str | None = None, before: str | None = None, limit: int | None = None, unread: bool | None = None) -> Stream[LinkConversationRow, StoreCount]:
        "The conversations of an account, the newest first."
    def post(self, *, to: str, url: str, account: str | None = None, givesUp: bool | None = None, note: str | None = None, session: str | None = None, token: str | None = None, waitMilliseconds: int | None = None) -> SentLink:
        "Sends a link to a contact in gift wraps. Answered when a relay of each recipient has it, or when the wait is over."
    def read(self, *, account: str | None = None, conversation: str | None = None, newest: str | None = None, oldest: str | None = None, post: str | None = None) -> StoreCount:
        "Marks the posts of a conversation as read, or a post with its replies. Answered with how many were unread."
    def reply(self, *, post: str, text: str, account: str | None = None, givesUp: bool | None = None, token: str | None = None, waitMilliseconds: int | None = None) -> SentLink:
        "Sends a reply to a post; otherwise as `links.post`."
    def show(self, *, account: str | None = None, before: str | None = None, conversation: str | None = None, limit: int | None = None, post: str | None = None) -> Stream[LinkRow, StoreCount]:
        "The posts of a conversation, the newest first; or a post and its replies, the oldest first."
    def status(self) -> LinksStatus:
        "Whether something can be sent now, and how many gift wraps were opened and wait."

class LocalMethods:
    def allow(self, *, origin: str) -> LocalRelayOrigins:
        "Allows web pages of an origin to do what programs may."
    def clients(self) -> LocalRelayClients:
        "Connected clients, the latest first, and the origins that are allowed."
    def deny(self, *, origin: str) -> LocalRelayOrigins:
        "Takes that permission back, and closes connections of the origin."
    def status(self) -> LocalRelayStatus:
        "Figures of the local relay. Counters begin with the process."

class MessagesMethods:
    def list(self, *, account: str | None = None, before: str | None = None, limit: int | None = None, unread: bool | None = None) -> Stream[LinkConversationRow, StoreCount]:
        "The conversations with messages, the newest first."
    def read(self, *, account: str | None = None, conversation: str | None = None, newest: str | None = None, oldest: str | None = None, post: str | None = None) -> StoreCount:
        "Marks the messages of a conversation as read. Answered with how many were unread."
    def send(self, *, text: str, to: List[str], account: str | None = None, givesUp: bool | None = None, legacy: bool | None = None, replyTo: str | None = None, subject: str | None = None, token: str | None = None, waitMilliseconds: int | None = None) -> SentLink:
        "Sends a private message (NIP-17) in gift wraps; otherwise as `links.post`."
    def show(self, *, account: str | None = None, before: str | None = None, conversation: str | None = None, limit: int | None = None, post: str | None = None) -> Stream[LinkRow, StoreCount]:
        "The messages of a conversation, the newest first."

class MirrorMethods:
    def copies(self, *, id: str) -> EventCopies:
        "Which relays have an event of an account."
    def scrub(self, *, account: str | None = None, relay: str | None = None) -> Stream[CopyStatusRelay, StoreCount]:
        "Compares relays with what accounts wrote, now, and sends what they lack. A part for each relay."
    def status(self) -> MirrorStatus:
        "How much of each account is here, and how complete it is by the store's coverage."
    def sync(self, *, peer: str | None = None) -> Stream[PeerStatus, StoreCount]:
        "Compares with the other Roosts of the same owner, now, in both directions. A part for each."

class NameMethods:
    def resolve(self, *, name: str) -> ResolvedName:
        "The key and the relays that a person's name leads to (NIP-05): the word of the name's server."

class PageMethods:
    def enter(self, *, link: str | None = None) -> PageAddress:
        "Makes an address with which one browser comes in, once."

class PeopleMethods:
    def edit(self, *, changes: List[EntryEdit], kind: int, account: str | None = None, fromHere: bool | None = None, identifier: str | None = None, isMeant: bool | None = None, undo: str | None = None) -> EditedList:
        "Changes the newest version of a list. Answered when the new version is signed and committed; it is published then."
    def feed(self, *, account: str | None = None, afterSeq: int | None = None, kinds: List[int] | None = None, limit: int | None = None, pages: bool | None = None, policy: Literal["cache-with-network", "cache-only", "network-only"] | None = None, set: str | None = None) -> Stream[ObservedEvent | bytes | StoredEnd | FeedState, None]:
        "What the people write whom an account follows, or those of a set, without what it has muted: stored events, and then new ones, until the caller cancels."
    def find(self, *, text: str, account: str | None = None, limit: int | None = None) -> Stream[FoundPeople, StoreCount]:
        "Whom a person means by a few letters: those an account follows first."
    def forget(self, *, account: str) -> Stream[ForgetStep, PeopleForgotten]:
        "Removes an account that is left for it, with everything on this machine that is its alone; the key is last. It continues by itself after any death, and a repeated call joins it."
    def inbox(self, *, account: str | None = None, afterSeq: int | None = None, limit: int | None = None, only: List[Literal["reply", "mention", "quote", "reaction", "repost", "zap"]] | None = None, policy: Literal["cache-with-network", "cache-only", "network-only"] | None = None) -> Stream[InboxItem | StoredEnd | FeedState, None]:
        "What others write to an account: answers, mentions, quotes, reactions, reposts and zaps; stored ones, and then new ones, until the caller cancels."
    def list(self, *, kind: int, account: str | None = None, id: str | None = None, identifier: str | None = None, isFresh: bool | None = None) -> KnownList:
        "The newest version of a list, with its entries."
    def name(self, *, pubkey: str, name: str | None = None) -> NameClaim:
        "Whether an internet identifier (NIP-05) is a person's; its server is asked unless the answer is known."
    def profiles(self, *, keys: List[str], live: bool | None = None, maxAge: int | None = None, policy: Literal["cache-with-network", "cache-only", "network-only"] | None = None) -> Stream[ProfilePage, None]:
        "Profiles of up to 10,000 people: what is known at once, then what relays send, and each change if that is wanted."
    def status(self) -> PeopleStatus:
        "How many lists are kept, and what waits."
    def versions(self, *, kind: int, account: str | None = None, identifier: str | None = None) -> Stream[ListVersionRow, StoreCount]:
        "The versions of a list that are kept, the newest first."

class PlanRelaysMethods:
    def __call__(self) -> PlanRelayList:
        "The relays that are known, and why each is."
    def add(self, *, relay: str, reads: bool | None = None, writes: bool | None = None) -> PlanRelayList:
        "Adds a relay by hand."
    def remove(self, *, relay: str, reads: bool | None = None, writes: bool | None = None) -> PlanRelayList:
        "Removes a relay that was added by hand."

class PlanMethods:
    def cancel(self, *, id: str, relay: str | None = None) -> Publication:
        "Stops trying the relays that have not taken the event."
    def copy(self, *, ids: List[str], relay: str, account: str | None = None) -> CopyOutcomes:
        "Sends stored events of one's own accounts to a relay that lacks them, after what is published there."
    def follow(self, *, id: str, relay: str | None = None) -> Stream[Publication, None]:
        "A publication at once and at each change, until its state is final or the caller cancels."
    def progress(self, *, filters: List[Any], afterSeq: int | None = None, exclusiveRelays: bool | None = None, id: str | None = None, maxAge: int | None = None, networkLimit: int | None = None, pages: bool | None = None, policy: Literal["cache-with-network", "cache-only", "network-only"] | None = None, recipients: List[str] | None = None, relays: List[str] | None = None, superseded: bool | None = None) -> Stream[ObserveProgress, None]:
        "How far the relays are with what is observed: at once and at each change, until the caller cancels."
    def publications(self, *, ids: List[str] | None = None, limit: int | None = None, olderThan: int | None = None, states: List[Literal["optimistic", "partial", "confirmed", "failed", "cancelled"]] | None = None) -> Stream[Publication, StoreCount]:
        "Publications, the newest first."
    def publish(self, *, event: Any, agreedRelays: List[str] | None = None, expiresAfter: int | None = None, foreignRelays: List[str] | None = None, relays: List[str] | None = None, replace: bool | None = None) -> Publication:
        "Sends an event to its relays and keeps trying. Answered when the event is stored and queued."
    relays: PlanRelaysMethods
    def replaced(self, *, forget: bool | None = None, id: str | None = None) -> Stream[ReplacedList, StoreCount]:
        "Versions of lists that were kept because the next version had lost entries, the newest first."
    def retry(self, *, id: str, relay: str | None = None) -> Publication:
        "Tries relays again that failed, and those that wait at once."
    def retry_unsent(self, *, olderThan: int, withFailed: bool | None = None) -> RetriedPublications:
        "Sends at once what waits for relays, of publications that were accepted long enough ago."
    def route(self, *, event: Any | None = None, filters: List[Any] | None = None) -> Route:
        "Where an event would be sent, or where filters would be asked, and why. Nothing is sent."
    def status(self) -> PlanStatus:
        "Figures of the publish queue and of what relays are asked."
    def want(self, *, filters: List[Any], depth: Literal["all", "newest"] | None = None, eventMaximum: int | None = None, exclusiveRelays: bool | None = None, foreignRelays: List[str] | None = None, relays: List[str] | None = None, seconds: int | None = None, urgency: Literal["look-up", "backfill"] | None = None) -> Stream[ObserveProgress, PlanWantResult]:
        "Has relays asked for what they have stored of filters, once and as deep as is said. Each part is the progress."

class PushMethods:
    def devices(self, *, limit: int | None = None, owner: str | None = None) -> Stream[PushDeviceRow, StoreCount]:
        "Registered devices, in the order of their registration. No tokens."
    def rekey(self) -> PushRekeyed:
        "Reads the key ring again and encrypts all tokens under its newest key."
    def send(self, *, owner: str, type: str, waitMilliseconds: int | None = None) -> PushSent:
        "Wakes the devices of a key, past all limits, to try it."
    def status(self) -> PushStatus:
        "Figures of the push relay."

class RelayMethods:
    def compare(self, *, filter: Any, account: str | None = None, countsOnly: bool | None = None, isForeign: bool | None = None, relay: str | None = None, since: int | None = None, until: int | None = None) -> Stream[bytes, RelayReconcileResult]:
        "As `relay.reconcile`, and the parts are the ids of stored events that the relay lacks."
    def count(self, *, filter: Any, account: str | None = None, isForeign: bool | None = None, relay: str | None = None) -> RelayCounted:
        "How many events a relay has of a filter, by its word (NIP-45). Nothing is fetched."
    def follow(self) -> Stream[RelayReport, None]:
        "How the subscriptions and the relays of the connector are doing, until the caller cancels. The first part is whole."
    def information(self, *, relay: str, isForeign: bool | None = None) -> RelayInformationResult:
        "What a relay says of itself (NIP-11). Nothing of it is proven."
    def list(self) -> RelayStates:
        "The relays of one connector, and how their connections are."
    def publications(self, *, account: str, after: int, publications: List[Publication], relay: str) -> PublishedNews:
        "Tells another Roost of the same owner what was published here; answered with what was published there."
    def publish(self, *, event: Any, account: str | None = None, isForeign: bool | None = None, isProtected: bool | None = None, relay: str | None = None) -> RelayPublishResult:
        "Sends an EVENT to one relay. Answered by the relay's OK."
    def reconcile(self, *, filter: Any, account: str | None = None, countsOnly: bool | None = None, isForeign: bool | None = None, relay: str | None = None, since: int | None = None, until: int | None = None) -> Stream[ReconcileCounts, RelayReconcileResult]:
        "Fetches the events of a relay that the store lacks, by NIP-77. Each part is the counts so far."
    def request(self, *, all: bool | None = None, filters: List[Any] | None = None, isForeign: bool | None = None, limit: int | None = None, relay: str | None = None) -> Stream[Event, RelayRequestResult]:
        "Sends a REQ to one relay. Each part is one event; the answer comes after the relay's EOSE."
    def retry(self, *, relay: str, onlyBackOff: bool | None = None) -> RelayStatesRelay:
        "Dials a relay now, and forgets its failures and its quarantine."

class SignerNip04Methods:
    def decrypt(self, *, peer: str, account: str | None = None, event: Any | None = None, text: str | None = None) -> SignerText:
        "Decrypts a text (NIP-04)."
    def encrypt(self, *, peer: str, account: str | None = None, event: Any | None = None, text: str | None = None) -> SignerText:
        "Encrypts a text (NIP-04)."

class SignerNip44Methods:
    def decrypt(self, *, peer: str, account: str | None = None, event: Any | None = None, text: str | None = None) -> SignerText:
        "Decrypts a text (NIP-44)."
    def encrypt(self, *, peer: str, account: str | None = None, event: Any | None = None, text: str | None = None) -> SignerText:
        "Encrypts a text (NIP-44)."

class SignerMethods:
    def accounts(self) -> SignerAccounts:
        "The accounts, without anything secret, and the key to seal secrets to."
    def generate(self, *, name: str, passphrase: SealedSecret | None = None) -> SignerAccount:
        "Makes a new key. Doing it twice makes two keys."
    def import_(self, *, name: str, secret: SealedSecret, isLeft: bool | None = None, passphrase: SealedSecret | None = None) -> SignerAccount:
        "Stores a key that was made elsewhere."
    def leave(self, *, account: str, isForgetting: bool | None = None) -> SignerAccount:
        "Locks an account and ends what is asked of relays for it, until it is used or unlocked. Everything is kept."
    def lock(self, *, account: str | None = None) -> SignerAccounts:
        "Forgets keys until their passphrases are given again."
    nip04: SignerNip04Methods
    nip44: SignerNip44Methods
    def passphrase(self, *, account: str | None = None, new: SealedSecret | None = None, present: SealedSecret | None = None) -> SignerAccount:
        "Stores a key under another passphrase."
    def remove(self, *, name: str, publicKey: str) -> SignerAccount:
        "Deletes a stored key for good."
    def sign(self, *, event: Any, account: str | None = None, allowSecrets: bool | None = None, deleted: List[Any] | None = None) -> SignerSigned:
        "Signs an event."
    def unlock(self, *, account: str | None = None, passphrase: SealedSecret | None = None) -> SignerAccount:
        "Unlocks an account with its passphrase."
    def unwrap(self, *, wrap: Any, account: str | None = None) -> SignerUnwrapped:
        "Opens a gift wrap, with all checks of NIP-59."
    def use(self, *, account: str) -> SignerAccount:
        "From now on this account is meant where none is named."
    def watch(self, *, name: str, publicKey: str) -> SignerAccount:
        "Adds an account of which only the public key is here, to read along."
    def wrap(self, *, recipient: str, rumor: Any, account: str | None = None, allowSecrets: bool | None = None, expiration: int | None = None, isEphemeral: bool | None = None, relayHint: str | None = None) -> SignerWrapped:
        "Seals a rumor and wraps it for one recipient (NIP-59)."

class StoreObservesMethods:
    def list(self) -> Stream[ActiveObserve, ObserveListEnd]:
        "What is observed at present."

class StoreReconcileMethods:
    def close(self, *, session: int) -> None:
        "Ends a reconciliation."
    def next(self, payload: bytes, /) -> bytes:
        "The next message of a reconciliation."
    def open(self, *, filter: Any, message: str, recipients: List[str] | None = None) -> Stream[bytes, ReconcileEnd]:
        "Begins a reconciliation (NIP-77). The one part is the first message; the request stays open until the session ends."

class StoreMethods:
    def acknowledge(self, *, id: str, seq: int) -> None:
        "The caller has handled all events of an observation up to a seq."
    def count(self, *, filters: List[Any], bytes: bool | None = None, limit: int | None = None, pages: bool | None = None, recipients: List[str] | None = None) -> StoreCount:
        "How many stored events any of the filters matches."
    def coverage(self, *, filters: List[Any], inParts: bool | None = None, relays: List[str] | None = None) -> Stream[CoveredFilter, StoreCount]:
        "For which relays and times everything that the filters match is stored."
    def delivery(self, *, authors: List[str], since: int, until: int, kinds: List[int] | None = None) -> Stream[AuthorDelivery, StoreCount]:
        "How many events of some authors each relay had that has sent all of a time."
    def import_(self, payload: bytes, /) -> IngestResult:
        "Stores events from files, or what relays had stored, over the bulk lane. Answered when they are committed."
    def observe(self, *, filters: List[Any], afterSeq: int | None = None, exclusiveRelays: bool | None = None, id: str | None = None, maxAge: int | None = None, networkLimit: int | None = None, pages: bool | None = None, policy: Literal["cache-with-network", "cache-only", "network-only"] | None = None, recipients: List[str] | None = None, relays: List[str] | None = None, superseded: bool | None = None) -> Stream[ObservedEvent | bytes | StoredEnd, None]:
        "Stored events that any of the filters matches, and then new ones, until the caller cancels."
    observes: StoreObservesMethods
    def offer(self, payload: bytes, /) -> bytes:
        "Stores many events. Answered with an outcome for each, in their order, when all are committed."
    def publish(self, payload: Event, /) -> PublishResult:
        "Stores one event. Answered when it is committed; no relay gets it (`plan.publish` does that)."
    def query(self, *, filters: List[Any], bytes: bool | None = None, limit: int | None = None, pages: bool | None = None, recipients: List[str] | None = None) -> Stream[Event | bytes, StoreCount]:
        "Stored events that any of the filters matches, each once, the newest first."
    reconcile: StoreReconcileMethods
    def seen(self, *, id: str) -> SeenResult:
        "The relays that an event came from."
    def sources(self, *, authors: List[str]) -> SourceRelays:
        "The relays that sent events of some authors, and how many."
    def status(self) -> StoreStatus:
        "Figures of the store. Counters begin with the process."
    def trim(self, *, bytes: int, filters: List[Any], keep: List[Any] | None = None, spared: List[str] | None = None) -> StoreTrimmed:
        "Removes the oldest events of filters, strangers' first, until the rest fits into so many bytes."
    def unseen(self, *, author: str, besides: List[str] | None = None) -> Stream[bytes, StoreCount]:
        "The events of an author that were handed in here and that no relay has sent. Each part is some ids."

class SupervisorMethods:
    def attach(self, *, role: str, name: str | None = None) -> AttachGrant:
        "A token with which a worker that is started by hand can join once. For the supervisor's own user only."
    def configuration(self) -> SupervisorConfigurationFile:
        "The configuration file and the names of the state directories, for a backup. For the supervisor's own user only."
    def dead_letters(self, *, action: str, id: str | None = None) -> DeadLettersResult:
        "Lists, shows, retries or drops dead letters: messages that were set aside because workers died of them."
    def doctor(self) -> DoctorResult:
        "Checks the supervisor, its workers and their files."
    def hold(self, *, worker: str, hold: bool | None = None) -> WorkerCommandResult:
        "Keeps a worker stopped, with its queue, or releases it."
    def log_level(self, *, category: str, level: str) -> LogLevelResult:
        "Sets or shows the log level of a category."
    def logs(self, *, follow: bool | None = None, lines: int | None = None, trace: str | None = None, worker: str | None = None) -> Stream[List[LogRecord], List[LogRecord]]:
        "Log lines of workers, in parts of several lines; with `follow` until the caller cancels."
    def record(self, *, worker: str, bytes: int | None = None, ends: bool | None = None, milliseconds: int | None = None, path: str | None = None, restart: bool | None = None) -> Stream[RecordProgress, RecordResult | RecordProgress]:
        "Writes the messages between a worker and the hub into a file. For the supervisor's own user only."
    def reload(self, *, dryRun: bool | None = None) -> ReloadResult:
        "Reads the configuration file again and applies what changed, or says what would change."
    def restart(self, *, worker: str) -> WorkerCommandResult:
        "Stops and starts a worker. Answered when the worker is ready or has failed."
    def shutdown(self) -> WorkerCommandResult:
        "Stops all workers and ends the supervisor."
    def start(self, *, worker: str) -> WorkerCommandResult:
        "Starts a worker. Answered when the worker is ready or has failed."
    def status(self, *, memory: bool | None = None) -> SupervisorStatus:
        "The state of the supervisor, its workers and its clients."
    def stop(self, *, worker: str, drainMilliseconds: int | None = None) -> WorkerCommandResult:
        "Stops a worker after it has drained. Answered when it has stopped."
    def version(self) -> SupervisorVersion:
        "The version of the supervisor, without a look at its workers."
    def why(self, *, worker: str) -> WhyResult:
        "Explains the state of a worker, with its last log lines."

class Methods:
    backup: BackupMethods
    dvm: DvmMethods
    job: JobMethods
    links: LinksMethods
    local: LocalMethods
    messages: MessagesMethods
    mirror: MirrorMethods
    name: NameMethods
    page: PageMethods
    people: PeopleMethods
    plan: PlanMethods
    push: PushMethods
    relay: RelayMethods
    signer: SignerMethods
    store: StoreMethods
    supervisor: SupervisorMethods
    @overload
    def subscribe(self, topic: Literal["supervisor.events"]) -> Subscription[SupervisorEvent]:
        "Each change of a worker's state, with its reason."
    @overload
    def subscribe(self, topic: Literal["relay.states"]) -> Subscription[RelayStates]:
        "The relays whose states have changed."
    @overload
    def subscribe(self, topic: Literal["store.observes"]) -> Subscription[ObserveChanges]:
        "Changes of what is observed."
    @overload
    def subscribe(self, topic: Literal["store.covered"]) -> Subscription[CoverageAdded]:
        "A relay has sent all it had for a filter, and all of it is committed."
    @overload
    def subscribe(self, topic: Literal["plan.published"]) -> Subscription[Publication]:
        "Each change of a publication."
    @overload
    def subscribe(self, topic: Literal["signer.changes"]) -> Subscription[SignerChanges]:
        "All accounts, whenever one has come or gone, or been locked, unlocked, left or chosen."
    @overload
    def subscribe(self, topic: Literal["links.changes"]) -> Subscription[LinkChange]:
        "What has come, was sent or was read, with its notice."
    @overload
    def subscribe(self, topic: str) -> Subscription[Any]: ...
