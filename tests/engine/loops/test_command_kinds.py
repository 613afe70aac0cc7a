"""What repeating a command line means."""

from harness.engine.loops.command_kinds import kind_of
from harness.policies.loops.observations import CallKind

ASKS = [
    "sleep 2; cat status",
    "sleep 30 && gh run view 42",
    "gh run watch 42 --exit-status",
    "gh run list --limit 1",
    "gh pr checks 7 --watch",
    "gh api repos/a/b/actions/runs",
    "curl -s http://localhost:8080/jobs/7",
    "curl -sf -XGET localhost:3000/health | jq .state",
    "curl -fsSL -H 'Accept: application/json' https://example.com/job",
    "wget -qO- http://localhost/status",
    "kubectl get pods -n web",
    "kubectl -n web rollout status deploy/api",
    "kubectl get deploy",
    "kubectl logs deploy/api --tail 5",
    "kubectl wait --for=condition=ready pod/x",
    "docker ps",
    "docker compose ps",
    "docker logs web 2>&1 | tail -5",
    "ps aux | grep server",
    "pgrep -f server",
    "test -f done",
    "[ -f done ] && echo yes",
    "systemctl status nginx",
    "aws ecs describe-services --cluster x",
    "aws cloudformation wait stack-create-complete --stack-name x",
    "timeout 60 bash -c 'until test -f done; do sleep 1; done'",
    "for i in 1 2 3; do curl -s localhost; sleep 5; done",
    "watch -n 1 cat status",
    "timeout 20 tail -f log",
    "wait",
    "sleep 60",
    "ss -ltn | grep 8080 > /dev/null",
]
LOOKS = ["cat status", "git status", "ls -l", "git log -1 | head", "grep x a.txt", "tail -5 log"]
WAITS = ["sleep 5; ./check.sh", "sleep 10 && npm test", "sleep 1; curl -X POST localhost/x", "sleep 1; cat a > b"]
WORKS = [
    "make",
    "./check.sh",
    "curl -X POST http://localhost/jobs",
    "curl -sXDELETE http://localhost/jobs/1",
    "curl -d a=1 http://localhost",
    "curl --data-raw x http://localhost",
    "curl --json '{}' http://localhost",
    "http POST localhost/jobs",
    "gh run rerun 42",
    "gh pr merge 7",
    "gh api repos/a/b/issues -f title=x",
    "kubectl apply -f x.yaml",
    "kubectl rollout restart deploy/api",
    "docker run status",
    "docker compose up -d",
    "docker exec web ls",
    "systemctl restart nginx",
    "terraform apply",
    "ps aux > list.txt",
    "kubectl get pods | xargs kubectl delete",
    "python check.py",
    "cat 'unfinished",
    "",
]


def test_the_kind_of_a_line() -> None:
    kinds = {CallKind.ASKS: ASKS, CallKind.LOOKS: LOOKS, CallKind.WAITS: WAITS, CallKind.WORKS: WORKS}
    wrong = [(line, kind_of(line), kind) for kind, lines in kinds.items() for line in lines if kind_of(line) != kind]
    assert wrong == []
