"""Made from docs/methods.json by generate.py (`make methods`): the methods that answer in parts."""

STREAMS = frozenset(
    """
    backup.read dvm.jobs job.follow job.list job.providers links.contacts links.list links.show messages.list
    messages.show mirror.scrub mirror.sync people.feed people.find people.forget people.inbox people.profiles
    people.versions plan.follow plan.progress plan.publications plan.replaced plan.want push.devices
    relay.compare relay.follow relay.reconcile relay.request store.coverage store.delivery store.observe
    store.observes.list store.query store.reconcile.open store.unseen supervisor.logs supervisor.record
    """.split())
