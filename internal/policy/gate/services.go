package gate

import (
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// The commands of clouds, clusters, databases and hosting services follow a few
// patterns: nouns and a verb. What a verb such as "delete" means is told once, in
// destroys; what differs per program is told here.

// family says what a service program holds.
type family uint8

const (
	noFamily family = iota
	cloudFamily
	clusterFamily
	databaseFamily
	repoFamily
	hostFamily
)

// familyOf tells service programs whose destructive verbs are regular.
func familyOf(name string) family {
	switch name {
	case "aws", "gcloud", "az", "doctl", "linode-cli", "hcloud", "oci", "ibmcloud", "openstack", "vultr", "vultr-cli", "scw", "civo", "exo", "upctl", "aliyun", "tccli", "yc", "eksctl", "kops", "gsutil", "s3cmd", "s4cmd", "s5cmd", "azcopy", "copilot-cli", "balena", "knife", "sam", "cdk", "rosa", "ecs-cli", "eb", "chalice", "zappa", "amplify", "awslocal", "ovh", "packet", "metal", "triton", "cf", "bx", "packer", "ansible-galaxy", "consul", "vault", "nomad", "boundary", "b2", "mc", "mcli", "rclone", "restic", "borg", "velero", "duplicity", "kopia", "proxmox-backup-client":
		return cloudFamily
	case "flyctl", "fly", "heroku", "vercel", "netlify", "wrangler", "railway", "render", "firebase", "serverless", "sls", "surge", "now", "deta", "apphosting", "dokku", "coolify", "kamal", "cap", "pm2-deploy", "expo", "eas", "appwrite", "supabase", "amplify-app", "zeit", "gigalixir", "porter", "qovery", "northflank", "clever", "scalingo", "platform", "upsun", "pantheon", "terminus", "wp", "drush", "faas-cli", "stripe", "square", "dog", "travis", "twilio", "sendgrid", "auth0", "okta", "ldcli", "launchdarkly", "sentry-cli", "datadog-ci", "pagerduty", "pd", "newrelic", "cloudflare", "flarectl", "dnscontrol", "octodns-sync", "namecheap", "algolia", "shopify", "contentful", "sanity", "jenkins-cli", "circleci", "buildkite", "bk", "drone", "fastly", "akamai", "ngc", "modal", "replicate", "runpodctl", "huggingface-cli", "hf", "wandb", "dvc", "kaggle", "databricks", "dbt-cloud", "snow", "snowsql-admin", "confluent", "ccloud", "checkly", "unleash", "kong", "deck":
		return hostFamily
	case "kubectl", "oc", "k", "helm", "helmfile", "kind", "minikube", "k3d", "k3s", "argocd", "flux", "istioctl", "linkerd", "cilium", "kustomize", "tanzu", "rancher", "ctr", "crictl", "kubeadm", "k0s", "microk8s", "rke", "talosctl", "clusterctl", "karmadactl", "kapp", "skaffold", "tilt", "devspace", "okteto", "vcluster", "calicoctl", "argo", "tkn", "kn", "odo", "operator-sdk", "eksctl-anywhere":
		return clusterFamily
	case "pscale", "neonctl", "turso", "atlas", "mongocli", "influx", "etcdctl", "cockroach", "redis-trib", "tidb", "tiup", "xata", "upstash", "prisma", "sequelize", "sequelize-cli", "knex", "typeorm", "drizzle-kit", "alembic", "flyway", "liquibase", "goose-migrate", "dbmate", "migrate", "sqitch", "diesel", "sqlx", "sea-orm-cli", "rails", "rake", "artisan", "dropdb", "dropuser", "mysqladmin", "redis-cli", "valkey-cli", "keydb-cli", "cqlsh", "nodetool", "kafka-topics", "kafka-topics.sh", "kafka-delete-records", "kafka-delete-records.sh", "kafka-consumer-groups", "kafka-consumer-groups.sh", "rabbitmqctl", "rabbitmqadmin", "rpk", "pulsar-admin", "nats", "zkCli.sh", "curator_cli", "esctl", "meilisearch", "qdrant", "celery", "bq", "dbt", "ysqlsh", "ecto", "mix", "supervisorctl":
		return databaseFamily
	case "gh", "glab", "hub", "tea", "bb", "svn", "hg", "jj", "fossil", "bzr", "p4", "hf-repo":
		return repoFamily
	}
	return noFamily
}

// destroys reports whether a subcommand word destroys something.
func destroys(word string) bool {
	w := strings.ToLower(word)
	switch w {
	case "delete", "destroy", "remove", "rm", "purge", "terminate", "drop", "wipe", "nuke", "flush", "flushall", "flushdb", "uninstall", "teardown", "tear-down", "down", "del", "rb", "unpublish", "deprovision", "deregister", "erase", "truncate", "reset", "unlink", "expunge", "obliterate", "delete-all", "deleteall", "mb-delete", "disable", "dispose", "cleanup", "bulk-delete", "decommission", "undeploy", "abandon", "prune", "forget", "demolish", "evict", "shutdown", "archive":
		return w != "disable" && w != "cleanup" && w != "archive" && w != "shutdown" && w != "unlink"
	}
	for _, p := range [...]string{"delete-", "terminate-", "destroy-", "purge-", "remove-", "deregister-", "drop-", "delete_", "batch-delete", "bulk-delete", "wipe-", "schedule-key-deletion", "release-address"} {
		if strings.HasPrefix(w, p) {
			return true
		}
	}
	// heroku apps:destroy, rails db:drop, firebase projects:delete
	if i := strings.LastIndexAny(w, ":."); i >= 0 && i+1 < len(w) && !strings.Contains(w, "/") {
		return destroys(w[i+1:]) && !strings.Contains(w, "@")
	}
	return false
}

// harmlessVerb reports whether a word is a verb that destroys nothing: a function
// to deploy may be named purge. Some are also nouns of a first place: gcloud run,
// gcloud deploy.
func harmlessVerb(word string, place int) bool {
	switch word {
	case "list", "ls", "show", "get", "describe", "create", "inspect", "send-event":
		return true
	case "deploy", "execute", "dispatch", "run", "new", "update", "set", "add", "publish", "invoke", "call", "trigger", "start", "view", "export", "download", "upload", "cp", "cat", "put", "init", "info", "status", "exec", "restart", "build", "read", "tail":
		return place > 0
	}
	return false
}

// dryRun reports whether a run is only for show.
func (c *call) dryRun() bool {
	for _, t := range c.argv() {
		name, v, ok := strings.Cut(t, "=")
		switch name {
		case "--dry-run", "--dryrun", "-dry-run", "--what-if", "--whatif", "-WhatIf", "--check", "--noop", "--plan", "--preview", "--simulate", "--no-execute", "--pretend", "--validate-only", "--dry_run":
			if !ok || v != "none" && v != "false" {
				return true
			}
		}
	}
	return false
}

const serviceValued = " -n --namespace --context --kubeconfig --profile --region --project --account --zone --cluster -l --selector -f --filename -o --output --subscription -g --resource-group -R --repo --app -a --token --endpoint --endpoint-url --host -h -p -u --user --server -c --config --query --name --id --org -e --env --stage --cwd --workspace --scope --location --vault-name --instance --database -d --url --kube-context --as --timeout --wait --bucket --key --prefix --stack-name --function-name --table-name --db-instance-identifier --cluster-name --method -X --header -H --field -F --raw-field --jq --template -t --chdir --var --var-file --state -s --file --broker-list --bootstrap-server --zookeeper --topic --cli-read-timeout --cli-connect-timeout --color --ca-bundle --cli-binary-format --verbosity --log-level --format --impersonate-service-account --billing-project --configuration --request-timeout --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key --tls-server-name --username --password --kube-apiserver --kube-as-user --kube-as-group --kube-ca-file --kube-token --registry-config --repository-cache --repository-config --burst-limit --qps --config-dir --log-file --transfers --checkers --bwlimit --exclude --include --retries --workdir --message --body --description --title --comment "

// servicePrograms judges programs that manage things elsewhere.
func (j *judge) servicePrograms(c *call, name string) bool {
	switch name {
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose", "buildah", "finch", "lxc", "incus", "vagrant", "multipass", "virsh", "VBoxManage", "vboxmanage", "limactl", "colima", "orb", "qm", "pct", "prlctl", "wsl":
		j.containers(c, name)
		return true
	case "terraform", "tofu", "terragrunt", "pulumi", "cdktf", "bosh", "sst", "serverless", "sls", "ansible-playbook", "ansible", "chef-client", "puppet", "salt":
		j.infrastructure(c, name)
		return true
	case "redis-cli", "valkey-cli", "keydb-cli":
		j.redis(c)
		return true
	case "mongo", "mongosh":
		if e := c.opt("--eval"); e != nil {
			j.mongo(c, e.String())
		}
		if c.l.Stdin.Text != nil {
			j.mongo(c, c.l.Stdin.Text.Text)
		}
		return true
	case "python", "python3", "php", "bin/rails", "manage.py", "bundle", "mix", "npx", "yarn", "pnpm", "bunx", "npm", "bun", "uv", "poetry", "dotnet", "node", "artisan", "console", "symfony", "django-admin", "sail", "make", "just", "task":
		j.framework(c, name)
		j.frameworkCode(c, name)
		return true
	case "prisma":
		if t := c.l.Stdin.Text; t != nil && c.has("execute") && c.has("--stdin") {
			j.sql(t.Text, c.l.Offset, c.l.End)
		}
	case "flask":
		j.migrations(c, c.argv()[1:], strings.Join(c.argv(), " "))
	case "gh", "glab":
		j.forge(c, name)
		return true
	}
	j.frameworkCode(c, name)
	fam := familyOf(name)
	if fam == noFamily {
		return false
	}
	j.service(c, name, fam)
	return true
}

// service judges a regular program: nouns, a verb, and what it is done to.
func (j *judge) service(c *call, name string, fam family) {
	if c.dryRun() {
		return
	}
	ops := c.plain(serviceValued)
	all := strings.Join(c.argv(), " ")
	if len(ops) == 0 {
		if !strings.HasPrefix(name, "kafka-") {
			return
		}
		ops = []string{""}
	}
	effect, rule := CloudDestroy, "cloud-delete"
	switch fam {
	case clusterFamily:
		effect, rule = ClusterDestroy, "cluster-delete"
	case databaseFamily:
		effect, rule = DatabaseDestroy, "database-delete"
	case repoFamily:
		effect, rule = RepoDestroy, "repo-delete"
	}
	verb := -1
verbs:
	for i, o := range ops {
		if i > 4 {
			break
		}
		if destroys(o) {
			verb = i
			break
		}
		switch {
		case name == "gcloud" && (ops[0] == "alpha" || ops[0] == "beta") && i == 1: // a noun's place
		case harmlessVerb(o, i), i == 0 && (name == "heroku" || name == "firebase" || name == "netlify") && strings.ContainsRune(o, ':'):
			break verbs // what follows are names
		}
	}
	scope := One
	switch name {
	case "aws", "awslocal":
		j.aws(c, ops, all)
		return
	case "kubectl", "oc", "k":
		j.kubectl(c, ops, all)
		return
	case "helm":
		if ops[0] == "delete" || ops[0] == "uninstall" || ops[0] == "del" || ops[0] == "un" {
			j.add(c, effect, One, "helm-uninstall", all)
		} else if ops[0] == "rollback" {
			j.add(c, Apply, AnyScope, "cluster-apply", all)
		}
		return
	case "etcdctl":
		if ops[0] == "del" && (c.has("--prefix", "--from-key") || len(ops) > 1 && ops[1] == "") {
			scope = Mass
		}
	case "mysqladmin":
		for _, o := range ops {
			if o == "drop" {
				j.add(c, effect, Mass, "database-drop", all)
			} else if o == "shutdown" {
				j.add(c, Service, AnyScope, "service-stop", all)
			}
		}
		return
	case "dropdb", "dropuser":
		j.add(c, effect, One, "database-drop", all)
		return
	case "kafka-topics", "kafka-topics.sh", "kafka-consumer-groups", "kafka-consumer-groups.sh", "kafka-delete-records", "kafka-delete-records.sh":
		if c.has("--delete") || strings.HasPrefix(name, "kafka-delete") {
			j.add(c, effect, One, rule, all)
		} else if c.has("--reset-offsets") && c.has("--execute") {
			j.add(c, effect, One, rule, all)
		}
		return
	case "rabbitmqctl", "rabbitmqadmin":
		if strings.HasPrefix(ops[0], "delete") || strings.HasPrefix(ops[0], "purge") || ops[0] == "reset" || ops[0] == "force_reset" || ops[0] == "stop" || ops[0] == "stop_app" {
			j.add(c, effect, One, rule, all)
		}
		return
	case "rclone":
		switch ops[0] {
		case "delete", "purge", "deletefile", "rmdirs", "rmdir", "cleanup":
			j.add(c, CloudDestroy, One, "cloud-delete", all)
		case "sync", "bisync", "move", "moveto":
			j.add(c, CloudDestroy, One, "cloud-sync-delete", all)
		case "copy", "copyto":
			for _, o := range ops[1:] {
				if secretPath(j.w.Home, o) != notSecret || o == j.w.Home {
					j.add(c, Exfiltrate, AnyScope, "exfiltrate", all)
				}
			}
		}
		return
	case "restic", "borg", "kopia", "duplicity":
		switch ops[0] {
		case "forget", "prune", "delete", "break-lock", "remove-all-but-n-full", "remove-older-than", "snapshot", "repo-delete", "key":
			if ops[0] == "snapshot" && (len(ops) < 2 || !destroys(ops[1])) || ops[0] == "key" && (len(ops) < 2 || ops[1] != "remove") {
				return
			}
			j.add(c, Disk, AnyScope, "backup-delete", all)
		}
		return
	case "velero":
		if verb >= 0 {
			j.add(c, Disk, AnyScope, "backup-delete", all)
		}
		return
	case "supervisorctl":
		if ops[0] == "stop" || ops[0] == "shutdown" || ops[0] == "remove" {
			j.add(c, Service, AnyScope, "service-stop", all)
		}
		return
	case "gsutil", "s3cmd", "s5cmd", "s4cmd", "mc", "mcli", "azcopy", "b2":
		recursive := c.short("rR") || c.has("--recursive", "--force", "--all", "--remove")
		switch ops[0] {
		case "rb", "remove-bucket", "delete-bucket":
			j.add(c, effect, Mass, "cloud-bucket-delete", all)
		case "rm", "del", "remove", "delete":
			scope = One
			if recursive {
				scope = Mass
			}
			j.add(c, effect, scope, rule, all)
		case "sync", "rsync", "mirror":
			if c.has("--delete", "--delete-removed", "--remove", "--delete-destination") || c.short("d") {
				j.add(c, effect, One, "cloud-sync-delete", all)
			}
		}
		return
	case "vault":
		if verb >= 0 || ops[0] == "secrets" && len(ops) > 1 && ops[1] == "disable" || ops[0] == "auth" && len(ops) > 1 && ops[1] == "disable" || ops[0] == "operator" && len(ops) > 1 && (ops[1] == "seal" || ops[1] == "rekey") {
			j.add(c, effect, One, rule, all)
		}
		return
	case "consul":
		if verb >= 0 && c.has("-recurse") {
			scope = Mass
		}
	case "nomad":
		if ops[0] == "job" && len(ops) > 1 && ops[1] == "stop" || ops[0] == "stop" || ops[0] == "system" && len(ops) > 1 && ops[1] == "gc" {
			j.add(c, effect, One, rule, all)
			return
		}
	case "prisma", "sequelize", "sequelize-cli", "knex", "typeorm", "drizzle-kit", "alembic", "flyway", "liquibase", "dbmate", "migrate", "sqitch", "diesel", "sqlx", "sea-orm-cli", "rails", "rake", "artisan", "mix", "ecto":
		j.migrations(c, c.argv()[1:], all)
		return
	case "celery":
		return // its forms are told
	case "kubeadm":
		if ops[0] == "reset" {
			j.add(c, effect, Mass, rule, all)
		}
		return
	case "kind", "minikube", "k3d":
		if verb >= 0 {
			j.add(c, effect, One, rule, all) // a cluster of one's own machine
		}
		return
	case "nats":
		if verb >= 0 || len(ops) > 1 && ops[1] == "purge" {
			j.add(c, effect, One, rule, all)
		}
		return
	case "hg", "svn", "jj", "bzr", "p4", "fossil":
		j.otherVCS(c, name, ops, all)
		return
	case "cdk", "sam", "eb", "zappa", "chalice", "amplify", "copilot-cli", "eksctl", "kops", "rosa":
		if verb >= 0 {
			j.add(c, effect, Mass, "infrastructure-destroy", all)
		} else if name == "cdk" && ops[0] == "deploy" && c.optionFits("--require-approval=never") {
			j.add(c, Apply, AnyScope, "infrastructure-apply", all)
		}
		return
	case "vercel", "netlify", "surge", "wrangler", "firebase", "now":
	case "ansible-galaxy", "packer", "dvc", "wandb", "tilt", "skaffold", "devspace", "okteto":
		if name == "dvc" && verb < 0 || name == "ansible-galaxy" {
			return
		}
		if (name == "tilt" || name == "skaffold" || name == "devspace" || name == "okteto") && verb >= 0 {
			j.add(c, effect, One, rule, all)
		}
		return
	case "az":
		if verb >= 0 && len(ops) > 1 && (ops[0] == "group" || ops[0] == "aks" || ops[0] == "sql" || ops[0] == "storage" && ops[1] == "account") {
			scope = Mass
		}
	case "gcloud":
		if verb >= 0 && (ops[0] == "projects" || ops[0] == "container" || ops[0] == "sql") {
			scope = Mass
		}
	case "heroku":
		if strings.HasPrefix(ops[0], "pg:reset") || strings.HasPrefix(ops[0], "apps:destroy") || strings.HasPrefix(ops[0], "pg:drop") {
			scope = Mass
			if verb < 0 {
				verb = 0
			}
		}
	case "wp":
		if ops[0] == "db" && len(ops) > 1 && (ops[1] == "reset" || ops[1] == "drop" || ops[1] == "clean") {
			j.add(c, DatabaseDestroy, Mass, "database-drop", all)
			return
		}
		if ops[0] == "site" && len(ops) > 1 && ops[1] == "empty" {
			j.add(c, DatabaseDestroy, Mass, "database-drop", all)
			return
		}
		if ops[0] == "search-replace" {
			j.add(c, DatabaseDestroy, One, "sql-update-all", all)
			return
		}
	case "drush":
		if ops[0] == "sql-drop" || ops[0] == "sql:drop" || ops[0] == "site-install" {
			j.add(c, DatabaseDestroy, Mass, "database-drop", all)
			return
		}
	case "supabase":
		if ops[0] == "db" && len(ops) > 1 && ops[1] == "reset" {
			j.add(c, DatabaseDestroy, One, "database-drop", all)
			return
		}
		if ops[0] == "stop" {
			return
		}
	case "nodetool":
		if ops[0] == "decommission" || ops[0] == "removenode" || ops[0] == "clearsnapshot" || ops[0] == "assassinate" {
			j.add(c, DatabaseDestroy, Mass, rule, all)
		}
		return
	case "dokku", "fly", "flyctl":
		if verb >= 0 && (ops[0] == "apps" || ops[0] == "apps:destroy" || ops[0] == "postgres" || ops[0] == "volumes" || ops[0] == "destroy") {
			scope = Mass
		}
	}
	if verb >= 0 {
		// A file or object named "delete" is no verb: verbs stand before operands.
		if verb > 0 && strings.ContainsAny(ops[verb], "/=") {
			return
		}
		if c.has("--all", "--recursive", "--force-destroy", "--purge") && scope == One && fam != hostFamily {
			scope = Mass
		}
		j.add(c, effect, scope, rule, all)
	}
	switch {
	case name == "consul" && ops[0] == "leave", name == "argocd" && len(ops) > 1 && ops[1] == "sync" && c.has("--prune", "--force"):
		j.add(c, Apply, AnyScope, "cluster-apply", all)
	}
}

func (j *judge) aws(c *call, ops []string, all string) {
	if len(ops) < 2 {
		return
	}
	svc, op := ops[0], ops[1]
	switch svc {
	case "s3":
		switch op {
		case "rb":
			j.add(c, CloudDestroy, Mass, "cloud-bucket-delete", all)
		case "rm":
			s := One
			if c.optionFits("--rec~ursive") {
				s = Mass
			}
			j.add(c, CloudDestroy, s, "cloud-delete", all)
		case "sync":
			if c.optionFits("--del~ete") {
				j.add(c, CloudDestroy, One, "cloud-sync-delete", all)
			}
			fallthrough
		case "cp", "mv":
			for _, o := range ops[2:] {
				a := shell.Arg{Value: shell.Value{Text: o}}
				if strings.HasPrefix(o, "s3://") {
					continue
				}
				if p := j.locate(&a, c.l.Dir); j.secret(p.path) != notSecret || p.scope == Home {
					j.add(c, Exfiltrate, AnyScope, "exfiltrate", all)
				}
			}
		}
		return
	case "help", "configure":
		return
	}
	switch {
	case strings.HasPrefix(op, "delete-"), strings.HasPrefix(op, "terminate-"), strings.HasPrefix(op, "destroy-"), strings.HasPrefix(op, "purge-"), strings.HasPrefix(op, "batch-delete"),
		strings.HasPrefix(op, "deregister-"), strings.HasPrefix(op, "remove-"), strings.HasPrefix(op, "schedule-key-deletion"), strings.HasPrefix(op, "release-address"), strings.HasPrefix(op, "admin-delete-"), op == "leave-organization", op == "delete", op == "disable-key", strings.HasPrefix(op, "drop-"):
		s := One
		switch op {
		case "terminate-instances", "delete-db-instance", "delete-db-cluster", "delete-bucket", "delete-stack", "delete-cluster", "delete-table", "delete-hosted-zone", "delete-vpc", "delete-file-system", "delete-objects", "schedule-key-deletion", "delete-user", "delete-snapshot", "delete-db-snapshot", "delete-volume", "delete-repository", "delete-domain", "delete-organization", "delete-global-cluster",
			"delete-db-cluster-snapshot", "delete-db-instance-automated-backup", "delete-backup", "delete-backup-vault", "delete-recovery-point", "delete-replication-group", "delete-cache-cluster", "delete-elasticsearch-domain", "delete-user-pool", "terminate-clusters",
			"terminate-workspaces", "delete-vault", "delete-instance", "delete-auto-scaling-group", "delete-stack-set", "delete-database", "delete-keyspace", "delete-directory":
			s = Mass
		}
		j.add(c, CloudDestroy, s, "cloud-delete", all)
	case c.has("--no-deletion-protection", "--no-disable-api-termination", "--no-enable-termination-protection"):
		j.add(c, TrustDown, AnyScope, "cloud-rights", all)
	case op == "detach-volume":
		j.add(c, CloudDestroy, One, "cloud-stop", all)
	case strings.HasPrefix(op, "stop-") || strings.HasPrefix(op, "reboot-"):
		if op == "stop-instances" || op == "reboot-instances" || op == "stop-db-instance" || op == "reboot-db-instance" || op == "stop-db-cluster" {
			j.add(c, CloudDestroy, One, "cloud-stop", all)
		}
	case svc == "iam" && (strings.HasPrefix(op, "attach-") || strings.HasPrefix(op, "put-") || strings.HasPrefix(op, "create-access-key") || strings.HasPrefix(op, "create-login-profile") || strings.HasPrefix(op, "add-user") || op == "update-assume-role-policy"):
		j.add(c, TrustDown, System, "cloud-rights", all)
	case strings.HasPrefix(op, "put-bucket-acl") || strings.HasPrefix(op, "put-bucket-policy") || strings.HasPrefix(op, "delete-public-access-block") || op == "authorize-security-group-ingress":
		j.add(c, TrustDown, AnyScope, "cloud-rights", all)
	}
}

func (j *judge) kubectl(c *call, ops []string, all string) {
	if len(ops) > 1 && strings.Trim(ops[0], "0123456789") == "" {
		ops = ops[1:] // -v 6
	}
	if len(ops) == 0 {
		return
	}
	switch ops[0] {
	case "delete":
		s := One
		for kind := range strings.SplitSeq(strings.ToLower(strings.Join(ops[1:min(2, len(ops))], "")), ",") {
			kind, _, _ = strings.Cut(kind, "/")
			switch kind {
			case "namespace", "namespaces", "ns", "project", "projects", "pv", "pvc", "persistentvolume", "persistentvolumes", "persistentvolumeclaim", "persistentvolumeclaims", "crd", "crds", "customresourcedefinition", "customresourcedefinitions", "node", "nodes", "no", "statefulset", "statefulsets", "sts", "clusterrole", "clusterroles", "storageclass", "storageclasses", "sc", "apiservice", "apiservices", "all":
				s = Mass
			}
		}
		if c.has("--all", "--all-namespaces") || c.short("A") {
			s = Mass
		}
		j.add(c, ClusterDestroy, s, "cluster-delete", all)
	case "drain", "cordon", "taint":
		if ops[0] != "taint" || !strings.HasSuffix(ops[len(ops)-1], "-") {
			j.add(c, ClusterDestroy, One, "cluster-drain", all)
		}
	case "replace":
		if c.has("--force") {
			j.add(c, ClusterDestroy, One, "cluster-delete", all)
		}
	case "scale":
		if r := c.opt("--replicas"); r != nil && r.String() == "0" {
			j.add(c, ClusterDestroy, One, "cluster-scale-down", all)
		}
	case "rollout":
		if len(ops) > 1 && ops[1] == "undo" {
			j.add(c, Apply, AnyScope, "cluster-apply", all)
		}
	case "apply":
		if c.has("--prune") {
			j.add(c, ClusterDestroy, One, "cluster-delete", all)
		}
		if f := c.opt("-f", "--filename"); f != nil && strings.HasPrefix(f.String(), "http") && !strings.HasPrefix(f.String(), "https://") {
			j.add(c, RemoteExec, AnyScope, "download-into-cluster", all)
		}
	case "create":
		if len(ops) > 1 && strings.HasSuffix(ops[1], "rolebinding") && c.has("--clusterrole=cluster-admin", "cluster-admin") {
			j.add(c, TrustDown, AnyScope, "cloud-rights", all)
		}
	case "run", "debug":
		if c.has("--privileged", "--profile=sysadmin") || ops[0] == "debug" && len(ops) > 1 && strings.HasPrefix(ops[1], "node/") {
			j.add(c, TrustDown, AnyScope, "privileged-container", all)
		}
	case "patch":
		if strings.Contains(all, `"finalizers":null`) || strings.Contains(all, `"finalizers":[]`) || strings.Contains(all, `"finalizers": null`) || strings.Contains(all, `"finalizers": []`) {
			j.add(c, ClusterDestroy, One, "cluster-delete", all)
		}
	}
}

func (j *judge) containers(c *call, name string) {
	ops := c.plain(" -f --file -p --project-name --context -H --host --env-file --profile --filter -n --namespace -a --address -l --log-level --url --connection --root --runroot --storage-driver --config -c --tlscacert --tlscert --tlskey --identity --runtime --tmpdir --project-directory --ansi --progress --parallel ")
	all := strings.Join(c.argv(), " ")
	if len(ops) == 0 || c.dryRun() {
		return
	}
	if ops[0] == "compose" || ops[0] == "container" && len(ops) > 1 {
		if ops[0] == "compose" {
			name = "docker-compose"
		}
		ops = ops[1:]
		if len(ops) == 0 {
			return
		}
	}
	switch name {
	case "docker-compose", "podman-compose":
		if (ops[0] == "down" || ops[0] == "rm") && (c.short("v") || c.has("--volumes", "--rmi")) {
			if c.short("v") || c.has("--volumes") {
				j.add(c, ContainerWipe, AnyScope, "compose-down-volumes", all)
			}
		}
		if ops[0] == "run" {
			j.containerRun(c, all)
		}
		return
	case "vagrant", "multipass", "virsh", "VBoxManage", "vboxmanage", "limactl", "colima", "orb", "qm", "pct", "prlctl", "lxc", "incus", "wsl":
		for _, o := range ops[:min(2, len(ops))] {
			if o == "destroy" || o == "delete" || o == "undefine" || o == "unregistervm" || o == "purge" || o == "vol-delete" || o == "pool-delete" {
				j.add(c, ContainerWipe, AnyScope, "vm-destroy", all)
			}
		}
		if name == "wsl" && c.has("--unregister") {
			j.add(c, ContainerWipe, AnyScope, "vm-destroy", all)
		}
		return
	}
	if ops[0] == "image" && len(ops) > 1 && (ops[1] == "rm" || ops[1] == "remove") {
		ops = ops[1:]
	}
	sub := ""
	if len(ops) > 1 {
		sub = ops[1]
	}
	switch ops[0] {
	case "system":
		if sub == "prune" || sub == "reset" {
			j.add(c, ContainerWipe, AnyScope, "container-prune", all)
		}
	case "volume":
		if sub == "rm" || sub == "remove" || sub == "prune" {
			j.add(c, ContainerWipe, AnyScope, "volume-delete", all)
		}
	case "network":
		// Other work names networks, and cannot start without them.
		if sub == "prune" && !c.has("--filter") {
			j.add(c, ContainerWipe, AnyScope, "container-prune", all)
		}
	case "image", "builder", "buildx":
		if sub == "prune" && (c.short("a") || c.has("--all")) {
			j.add(c, ContainerWipe, AnyScope, "container-prune", all)
		}
	case "prune":
		j.add(c, ContainerWipe, AnyScope, "container-prune", all)
	case "rm", "rmi", "remove", "kill", "stop":
		if c.short("a") || c.has("--all") {
			j.add(c, ContainerWipe, AnyScope, "container-remove-all", all)
		}
		// $(docker ps -aq): everything there is.
		for i := range c.l.Argv {
			for _, h := range c.l.Argv[i].Holes {
				for k := h.From.From; k < h.From.To && k < len(j.f.Leaves); k++ {
					l := &j.f.Leaves[k]
					if l.Name == c.l.Name || l.Name == "docker" || l.Name == "podman" {
						filtered := false
						for n := range l.Argv {
							if t := l.Argv[n].Text; t == "-f" || strings.HasPrefix(t, "--filter") || strings.HasPrefix(t, "-f=") {
								filtered = true
							}
						}
						if !filtered {
							j.add(c, ContainerWipe, AnyScope, "container-remove-all", all)
						}
					}
				}
			}
		}
		if ops[0] == "rm" && c.short("v") && c.short("f") {
			j.add(c, ContainerWipe, AnyScope, "volume-delete", all)
		}
	case "swarm":
		if sub == "leave" && (c.short("f") || c.has("--force")) {
			j.add(c, ContainerWipe, AnyScope, "container-remove-all", all)
		}
	case "stack", "service", "secret", "config", "node":
		if sub == "rm" || sub == "remove" {
			j.add(c, ContainerWipe, AnyScope, "stack-remove", all)
		}
	case "run", "create", "exec":
		j.containerRun(c, all)
	case "push":
		j.add(c, Publish, AnyScope, "image-push", all)
	case "login":
	}
}

// containerRun judges doors out of a container.
func (j *judge) containerRun(c *call, all string) {
	if c.has("--privileged") || strings.Contains(all, "--pid=host") || strings.Contains(all, "--pid host") || strings.Contains(all, "--cap-add=ALL") || strings.Contains(all, "--cap-add ALL") || strings.Contains(all, "--cap-add=SYS_ADMIN") || strings.Contains(all, "--security-opt seccomp=unconfined") {
		j.add(c, TrustDown, AnyScope, "privileged-container", all)
	}
	argv := c.argv()
	for i, t := range argv {
		v := ""
		switch {
		case (t == "-v" || t == "--volume" || t == "--mount") && i+1 < len(argv):
			v = argv[i+1]
		case strings.HasPrefix(t, "--volume="), strings.HasPrefix(t, "--mount="):
			_, v, _ = strings.Cut(t, "=")
		case strings.HasPrefix(t, "-v") && len(t) > 2 && t[2] == '/':
			v = t[2:]
		default:
			continue
		}
		for _, part := range strings.Split(v, ",") {
			part = strings.TrimPrefix(strings.TrimPrefix(part, "source="), "src=")
			host, rest, _ := strings.Cut(part, ":")
			if host == "/var/run/docker.sock" || host == "/run/docker.sock" {
				j.add(c, TrustDown, AnyScope, "docker-socket", all)
			}
			if host == "/" || host == "/etc" || host == "/root" || host == "/boot" || host == "/dev" {
				if rest != "" || strings.Contains(v, "source=") || strings.Contains(v, "src=") {
					j.add(c, TrustDown, System, "host-mount", all)
				}
			}
		}
	}
}

func (j *judge) infrastructure(c *call, name string) {
	ops := c.plain(" -chdir --chdir --stack -s --cwd -C -i --inventory -e --extra-vars -l --limit --tags -t -m -a -u --user --stage --region --config ")
	all := strings.Join(c.argv(), " ")
	if len(ops) == 0 && name != "ansible" || c.dryRun() || c.has("--check", "-C") && strings.HasPrefix(name, "ansible") {
		return
	}
	if name == "ansible" {
		if a := c.opt("-a", "--args"); a != nil {
			module := "command"
			if m := c.opt("-m", "--module-name"); m != nil {
				module = m.String()[strings.LastIndexByte(m.String(), '.')+1:]
			}
			if module == "shell" || module == "command" || module == "raw" {
				j.inner(a.String(), shell.POSIX, c.l.Offset, c.l.End)
			}
		}
		return
	}
	auto := c.has("-auto-approve", "--auto-approve", "--yes", "-y", "--terragrunt-non-interactive", "--non-interactive", "-y", "--force", "-f")
	for i, o := range ops {
		switch o {
		case "destroy":
			s := Mass
			if !auto && i == 0 && len(c.l.Argv) <= 2 {
				s = One
			}
			j.add(c, CloudDestroy, s, "infrastructure-destroy", all)
			return
		case "apply":
			if name == "terraform" || name == "tofu" || name == "terragrunt" {
				if c.has("-destroy", "--destroy") {
					j.add(c, CloudDestroy, Mass, "infrastructure-destroy", all)
				} else {
					j.add(c, Apply, AnyScope, "infrastructure-apply", all)
				}
			}
			return
		case "up", "deploy":
			if name == "pulumi" || name == "bosh" || name == "cdktf" {
				j.add(c, Apply, AnyScope, "infrastructure-apply", all)
			}
			return
		case "remove":
			if name == "serverless" || name == "sls" || name == "sst" {
				j.add(c, CloudDestroy, Mass, "infrastructure-destroy", all)
				return
			}
		case "state":
			if i+1 < len(ops) && (ops[i+1] == "rm" || ops[i+1] == "push" || ops[i+1] == "replace-provider" || ops[i+1] == "delete") {
				j.add(c, CloudDestroy, One, "infrastructure-state", all)
			}
			return
		case "taint", "force-unlock", "untaint":
			if o != "untaint" {
				j.add(c, CloudDestroy, One, "infrastructure-state", all)
			}
			return
		case "workspace", "stack":
			if i+1 < len(ops) && (ops[i+1] == "delete" || ops[i+1] == "rm") {
				j.add(c, CloudDestroy, One, "infrastructure-state", all)
			}
			return
		case "delete-deployment", "delete-environment", "delete-disk":
			j.add(c, CloudDestroy, Mass, "infrastructure-destroy", all)
			return
		case "import", "plan", "init", "validate", "fmt", "output", "show", "preview", "refresh":
			return
		}
	}
}

// redis judges the command behind the options: a key may have any name.
func (j *judge) redis(c *call) {
	all := strings.Join(c.argv(), " ")
	words := c.plain(" -h -p -s -a --user --pass -u -r -i -n -d -D -c -x -X --sni --cacert --cacertdir --cert --key --tls-ciphers --tls-ciphersuites --intrinsic-latency --eval --rdb --functions-rdb --pattern --count --memkeys-samples ")
	for i, t := range words {
		if up := strings.ToUpper(t); strings.Contains(up, "FLUSHALL") || strings.Contains(up, "FLUSHDB") {
			// The command, or a script's; a key's name or a message has words of its own.
			if i == 0 || strings.EqualFold(words[0], "EVAL") || c.has("--cluster") || strings.Contains(t, "\n") {
				j.add(c, DatabaseDestroy, Mass, "database-flush", all)
			}
		}
	}
	word := func(i int) string {
		if i < len(words) {
			return strings.ToUpper(words[i])
		}
		return ""
	}
	empties := func() { j.add(c, DatabaseDestroy, One, "database-delete", all) }
	settings := func() { j.add(c, Service, AnyScope, "database-config", all) }
	switch word(0) {
	case "SHUTDOWN":
		j.add(c, Service, AnyScope, "service-stop", all)
	case "DEBUG":
		switch word(1) {
		case "OBJECT", "HELP", "DIGEST", "SDSLEN", "LISTPACK", "HTSTATS", "STRINGMATCH-LEN":
		default:
			j.add(c, Service, AnyScope, "service-stop", all)
		}
	case "CONFIG":
		if word(1) == "SET" || word(1) == "REWRITE" {
			settings()
		}
	case "ACL":
		if word(1) == "DELUSER" || word(1) == "SETUSER" || word(1) == "LOAD" {
			settings()
		}
	case "MODULE":
		if word(1) == "LOAD" || word(1) == "LOADEX" || word(1) == "UNLOAD" {
			settings()
		}
	case "FAILOVER":
		settings()
	case "CLUSTER":
		switch word(1) {
		case "RESET", "FORGET", "FLUSHSLOTS", "DELSLOTS", "DELSLOTSRANGE", "FAILOVER":
			empties()
		}
	case "DEL-NODE": // redis-cli --cluster
		empties()
	case "REPLICAOF", "SLAVEOF": // takes another's data for its own
		if word(1) != "NO" && word(1) != "" {
			empties()
		}
	case "SWAPDB", "MIGRATE":
		empties()
	case "FUNCTION":
		if word(1) == "FLUSH" || word(1) == "DELETE" {
			empties()
		}
	case "XTRIM", "LTRIM":
		if word(0) == "XTRIM" && word(len(words)-1) == "0" {
			empties()
		}
	case "EVAL", "EVALSHA":
		if s := strings.ToLower(word(1)); strings.Contains(s, "keys") && strings.Contains(s, "del") && strings.Contains(s, "*") {
			empties()
		}
	case "DEL", "UNLINK":
		if c.l.Flags&shell.PerInput != 0 || j.namesOf(c, c.name()) {
			empties()
		}
	case "":
		if c.l.Flags&shell.PerInput != 0 && (c.has("DEL", "UNLINK")) {
			empties()
		}
	}
	if t := c.l.Stdin.Text; t != nil {
		for line := range strings.Lines(t.Text) {
			if up := strings.ToUpper(strings.TrimSpace(line)); strings.HasPrefix(up, "FLUSHALL") || strings.HasPrefix(up, "FLUSHDB") {
				j.add(c, DatabaseDestroy, Mass, "database-flush", "input of "+c.name())
			}
		}
	}
}

// namesOf reports whether a word of the call comes from a run of that program.
func (j *judge) namesOf(c *call, program string) bool {
	for i := range c.l.Argv {
		for _, v := range c.l.Argv[i].Each() {
			for _, h := range v.Holes {
				for k := h.From.From; k < h.From.To && k < len(j.f.Leaves); k++ {
					if j.f.Leaves[k].Name == program {
						return true
					}
				}
			}
		}
	}
	return false
}

func (j *judge) mongo(c *call, script string) {
	low := strings.ToLower(strings.Join(strings.Fields(script), ""))
	script = clip(script, 80)
	if strings.Contains(low, "dropdatabase(") || strings.Contains(low, "dropdatabase:1") {
		j.add(c, DatabaseDestroy, Mass, "database-drop", script)
		return
	}
	if containsAny(low, ".drop(", ".deletemany(", ".remove({})", ".remove()", "dropuser(", "dropallusers(", "dropindexes(", "dropcollection(", ".updatemany({},", ".update({},", "rs.remove(", "rs.stepdown(", "sh.removeshard(") {
		j.add(c, DatabaseDestroy, One, "database-delete", script)
		return
	}
	if strings.Contains(low, "shutdownserver(") || strings.Contains(low, "{shutdown:1") {
		j.add(c, Service, AnyScope, "service-stop", script)
	}
}

// framework judges tasks of web frameworks, which programs of many names run.
func (j *judge) framework(c *call, name string) {
	argv := c.argv()
	if len(argv) < 2 {
		return
	}
	all := strings.Join(argv, " ")
	words := argv[1:]
	for i, t := range words {
		base := t
		if k := strings.LastIndexByte(t, '/'); k >= 0 {
			base = t[k+1:]
		}
		if c.onlyLooks(base, i+2) {
			return
		}
		switch base {
		case "manage.py", "django-admin":
			if i+1 < len(words) {
				switch words[i+1] {
				case "flush", "reset_db", "sqlflush", "reset_schema":
					if words[i+1] != "sqlflush" {
						j.add(c, DatabaseDestroy, Mass, "database-drop", all)
					}
				case "migrate":
					if i+3 < len(words) && words[len(words)-1] == "zero" {
						j.add(c, DatabaseDestroy, One, "database-migrate-down", all)
					}
				}
			}
			return
		case "artisan", "console", "rails", "rake", "prisma", "sequelize", "sequelize-cli", "knex", "typeorm", "drizzle-kit", "ecto.drop", "ecto.reset", "ef", "alembic", "flask", "aerich", "mikro-orm", "directus", "strapi":
			if !c.dryRun() {
				j.migrations(c, words[i:], all)
			}
			return
		case "serverless", "sls", "cdk", "vercel", "firebase", "wrangler", "netlify", "supabase", "sst", "cdktf", "amplify", "expo", "eas", "surge", "heroku", "pulumi", "rimraf", "del-cli", "lerna", "semantic-release", "np", "release-it", "nx", "turbo", "trash", "vsce", "ovsx":
			// npx and its kin are walked by the parser; yarn, pnpm and bun also take a
			// program of the project for a command of theirs.
			if i == 0 && (name == "yarn" || name == "pnpm" || name == "bun") {
				own := *c.l
				own.Argv, own.Name = c.l.Argv[1:], base
				in := call{j: j, i: c.i, l: &own}
				if !j.done(&in, base) {
					j.networkPrograms(&in, base)
					j.servicePrograms(&in, base)
				}
				return
			}
			if i == 1 && (words[0] == "exec" || words[0] == "dlx" || words[0] == "x" || words[0] == "--") {
				continue
			}
		}
		if i == 0 && strings.HasPrefix(base, "ecto.") || strings.HasPrefix(base, "db:") || strings.HasPrefix(base, "doctrine:") || base == "migrate:fresh" || base == "migrate:reset" || base == "db:wipe" {
			j.migrations(c, words[i:], all)
			return
		}
		if i > 3 {
			return
		}
	}
}

// frameworkCode judges program text that a framework's own command runs.
func (j *judge) frameworkCode(c *call, name string) {
	switch name {
	case "rails", "gitlab-rails", "artisan", "php", "sail", "python", "python3", "manage.py", "django-admin", "mix", "drush", "wp", "crystal":
	default:
		return
	}
	argv := c.argv()
	for i := 0; i+1 < min(len(argv), 4); i++ {
		lang, code := "", (*shell.Arg)(nil)
		switch base := argv[i][strings.LastIndexByte(argv[i], '/')+1:]; base + " " + argv[i+1] {
		case "rails runner", "rails r", "gitlab-rails runner", "crystal eval":
			lang = "ruby"
		case "drush php:eval", "drush php-eval", "drush ev", "wp eval":
			lang = "php"
		case "artisan tinker":
			lang, code = "php", c.opt("--execute")
		case "manage.py shell", "manage.py shell_plus", "django-admin shell":
			lang, code = "python", c.opt("-c", "--command")
		case "mix run":
			lang, code = "elixir", c.opt("-e", "--eval")
		default:
			continue
		}
		if (lang == "ruby" || argv[i+1] != "tinker" && lang == "php") && i+2 < len(argv) {
			code = &c.l.Argv[len(argv)-1]
		}
		if code == nil {
			return
		}
		j.code(&shell.Code{Language: lang, Text: code.Value, Leaf: c.i, Offset: code.Offset})
		return
	}
}

// migrations judges the words of a migration tool.
func (j *judge) migrations(c *call, words []string, all string) {
	if c.dryRun() || flag(words, "", "--pretend") {
		return
	}
	for i, t := range words {
		low := strings.ToLower(t)
		next := ""
		if i+1 < len(words) {
			next = strings.ToLower(words[i+1])
		}
		switch {
		case low == "db:drop", strings.HasPrefix(low, "db:drop:"), low == "db:reset", low == "db:wipe", low == "migrate:fresh", low == "migrate:reset", low == "migrate:refresh", low == "db:purge", low == "ecto.drop", low == "ecto.reset", low == "db:migrate:reset", low == "db:schema:load", low == "db:truncate_all",
			low == "db:migrate:undo:all", (low == "migrate:rollback" || low == "ecto.rollback") && flag(words, "", "--all"), low == "doctrine:database:drop", low == "doctrine:schema:drop", low == "doctrine:fixtures:load", low == "schema:drop", low == "schema-drop", low == "dropall", low == "drop-all", low == "clean" && i <= 1 && words[0] == "flyway",
			low == "migrate" && next == "reset", low == "doctrine:schema:update" && flag(words, "f", "--force"), low == "migration" && next == "redo" && flag(words, "", "--all"), low == "db" && next == "push" && flag(words, "", "--force-reset", "--accept-data-loss"), low == "database" && (next == "drop" || next == "reset"), low == "db" && (next == "drop" || next == "reset"),
			low == "drop" && i <= 1, low == "downgrade" && next == "base", low == "down" && flag(words, "", "--all", "-all"), low == "reset" && i <= 1:
			j.add(c, DatabaseDestroy, One, "database-drop", all)
			return
		}
	}
}

func (j *judge) otherVCS(c *call, name string, ops []string, all string) {
	switch name {
	case "hg":
		switch ops[0] {
		case "strip", "purge", "rollback", "histedit":
			j.add(c, DiscardWork, AnyScope, "vcs-discard", all)
		case "update", "up", "checkout", "revert":
			if c.short("C") || c.has("--clean", "--all", "--no-backup") || ops[0] == "revert" && c.short("a") {
				j.add(c, DiscardWork, AnyScope, "vcs-discard", all)
			}
		case "push":
			if c.short("f") || c.has("--force") {
				j.add(c, PushForce, AnyScope, "git-push-force", all)
			}
		}
	case "svn":
		if ops[0] == "revert" && (c.short("R") || c.has("--recursive", "-R")) || ops[0] == "cleanup" && c.has("--remove-unversioned") {
			j.add(c, DiscardWork, AnyScope, "vcs-discard", all)
		}
		if destroys(ops[0]) && len(ops) > 1 && strings.Contains(ops[1], "://") {
			j.add(c, RepoDestroy, One, "repo-delete", all)
		}
	case "jj":
		if ops[0] == "git" && len(ops) > 1 && ops[1] == "push" && c.has("--deleted") {
			j.add(c, PushForce, AnyScope, "git-push-delete", all)
		}
		if ops[0] == "abandon" || ops[0] == "op" && len(ops) > 1 && (ops[1] == "restore" || ops[1] == "abandon") {
			j.add(c, DiscardWork, AnyScope, "vcs-discard", all)
		}
	case "p4":
		if ops[0] == "revert" || ops[0] == "obliterate" {
			j.add(c, DiscardWork, AnyScope, "vcs-discard", all)
		}
	}
}

// forge judges gh and glab.
func (j *judge) forge(c *call, name string) {
	ops := c.plain(" -R --repo -X --method -f -F --field --raw-field -H --header -q --jq -t --template -b --body --title --input --hostname ")
	all := strings.Join(c.argv(), " ")
	if len(ops) == 0 {
		return
	}
	sub := ""
	if len(ops) > 1 {
		sub = ops[1]
	}
	switch ops[0] {
	case "alias":
		// gh alias set NAME '!COMMAND'
		for _, o := range ops[1:] {
			if v, ok := strings.CutPrefix(o, "!"); ok || sub == "set" && c.has("-s", "--shell") {
				j.inner(v, shell.POSIX, c.l.Offset, c.l.End)
			}
		}
	case "repo", "project":
		if ops[0] == "project" && name == "gh" {
			break // a board; its forms are told
		}
		switch sub {
		case "sync":
			if c.has("--force") {
				j.add(c, PushForce, AnyScope, "git-push-force", all)
			}
		case "delete":
			j.add(c, RepoDestroy, AnyScope, "repo-delete", all)
		case "archive", "rename", "transfer", "edit":
			if sub != "edit" || c.has("--visibility") {
				j.add(c, RepoDestroy, One, "repo-change", all)
			}
		}
	case "api":
		m := c.opt("-X", "--method")
		if m != nil && strings.EqualFold(m.String(), "DELETE") {
			s := One
			if len(ops) > 1 {
				if p := strings.Trim(strings.SplitN(ops[1], "?", 2)[0], "/"); strings.HasPrefix(p, "repos/") && strings.Count(p, "/") == 2 || (strings.HasPrefix(p, "orgs/") || strings.HasPrefix(p, "projects/") || strings.HasPrefix(p, "groups/")) && strings.Count(p, "/") == 1 {
					s = AnyScope
				}
			}
			j.add(c, RepoDestroy, s, "repo-delete", all)
		}
		if strings.Contains(all, "mutation") && strings.Contains(strings.ToLower(all), "delete") {
			j.add(c, RepoDestroy, One, "repo-delete", all)
		}
	case "release", "secret", "variable", "run", "cache", "gist", "issue", "label", "ruleset", "ssh-key", "gpg-key", "codespace", "cs", "workflow", "environment", "deploy-key", "tag", "branch", "ci", "mr", "token", "schedule", "runner":
		if sub == "delete" || sub == "remove" || sub == "rm" || ops[0] == "workflow" && sub == "disable" {
			j.add(c, RepoDestroy, One, "repo-delete", all)
		}
		if ops[0] == "ssh-key" && sub == "add" || ops[0] == "gpg-key" && sub == "add" || ops[0] == "deploy-key" && sub == "add" {
			j.add(c, Persistence, AnyScope, "authorized-keys", all)
		}
		if ops[0] == "gist" && sub == "create" {
			for _, o := range ops[2:] {
				a := shell.Arg{Value: shell.Value{Text: o}}
				j.handsOver(c, j.locate(&a, c.l.Dir), all)
			}
		}
	case "pr":
		if sub == "merge" && c.has("--admin") {
			j.add(c, TrustDown, AnyScope, "merge-past-checks", all)
		}
	case "auth":
		if sub == "logout" || sub == "refresh" {
			j.add(c, Service, AnyScope, "sign-out", all)
		}
	}
}

// packages judges package managers: publishing, global installs, sources.
func (j *judge) packages(c *call, name string) {
	ops := c.plain(" --color --config -Z --loglevel --userconfig --registry --tag --prefix -C --cwd --dir --filter -F -w --workspace --index-url -i --extra-index-url --target -t -r -c --repository -m --otp --access --allow --index --project --manifest-path -p --features ")
	all := strings.Join(c.argv(), " ")
	if len(ops) == 0 || c.dryRun() {
		return
	}
	op := func(i int) string {
		if i < len(ops) {
			return ops[i]
		}
		return ""
	}
	first := op(0)
	pub := false
	switch name {
	case "npm", "pnpm", "yarn", "bun", "lerna", "changeset", "vsce", "ovsx", "pub", "dart", "flutter", "cargo", "poetry", "flit", "hatch", "pdm", "uv", "maturin", "rye", "deno", "jsr", "conan", "np", "release-it", "mix", "nx", "npx", "pnpx", "bunx", "fastlane", "pod":
		pub = first == "publish" || first == "hex.publish" || name == "np" || name == "yarn" && first == "npm" && op(1) == "publish" || (name == "dart" || name == "flutter") && first == "pub" && (op(1) == "publish" || op(1) == "lish") ||
			name == "pod" && first == "trunk" && op(1) == "push" || (name == "npx" || name == "pnpx" || name == "bunx") && (first == "semantic-release" || first == "np" || first == "release-it" || first == "vsce" && op(1) == "publish" || (first == "lerna" || first == "changeset" || first == "@changesets/cli") && op(1) == "publish") ||
			name == "fastlane" && (first == "release" || first == "deliver" || first == "supply")
		if first == "unpublish" || first == "deprecate" || name == "cargo" && first == "yank" && !c.has("--undo") || first == "dist-tag" && (op(1) == "rm" || op(1) == "add") || first == "owner" && (op(1) == "add" || op(1) == "rm" || c.has("--add", "--remove", "-a", "-r")) || first == "access" && op(1) != "list" && op(1) != "ls-packages" || first == "team" && op(1) != "ls" {
			j.add(c, Publish, Mass, "package-unpublish", all)
			return
		}
	case "semantic-release", "goreleaser":
		pub = name == "semantic-release" || first == "release" && !c.has("--snapshot", "--skip-publish") && !c.optionFits("--skip=*publish*")
	case "twine":
		pub = first == "upload"
	case "gem":
		pub = first == "push"
		if first == "yank" || first == "owner" {
			j.add(c, Publish, Mass, "package-unpublish", all)
		}
	case "rake":
		pub = first == "release"
	case "dotnet":
		pub = first == "nuget" && op(1) == "push" && !j.localFeed(c)
		if first == "nuget" && op(1) == "delete" {
			j.add(c, Publish, Mass, "package-unpublish", all)
		}
	case "nuget":
		pub = first == "push" && !j.localFeed(c)
	case "mvn":
		for _, o := range ops {
			pub = pub || o == "deploy" || o == "release:perform"
		}
	case "gradle", "gradlew":
		for _, o := range ops {
			if i := strings.LastIndexByte(o, ':'); i >= 0 {
				o = o[i+1:]
			}
			pub = pub || o == "publish" || strings.HasPrefix(o, "publishTo") || o == "publishPlugins" || o == "uploadArchives"
			if o == "publishToMavenLocal" {
				pub = false
			}
		}
	case "luarocks":
		pub = first == "upload"
	case "composer", "cabal", "stack":
		pub = first == "upload"
	case "opam":
		pub = first == "publish"
	case "skopeo", "crane", "oras":
		pub = first == "push" || first == "copy" && (name != "skopeo" || strings.HasPrefix(ops[len(ops)-1], "docker://"))
		if first == "delete" {
			j.add(c, CloudDestroy, One, "cloud-delete", all)
		}
	case "python", "python3":
		if c.opt("-m") != nil && c.opt("-m").String() == "twine" {
			pub = op(0) == "twine" && op(1) == "upload" || op(0) == "upload"
		}
	}
	if pub {
		j.add(c, Publish, AnyScope, "package-publish", all)
		return
	}
	global := false
	switch name {
	case "npm", "pnpm", "bun":
		install := first == "install" || first == "i" || first == "add" || first == "update" || first == "up" || first == "uninstall" || first == "rm" || first == "remove" || first == "link" && len(ops) > 1
		global = install && (c.optionFits("--gl~obal") || c.optionFits("--location=global") || c.short("g") && !strings.HasPrefix(all, "npm ls"))
		if first == "config" && op(1) == "set" || first == "set" {
			low := strings.ToLower(all)
			if strings.Contains(low, "strict-ssl") && strings.Contains(low, "false") {
				j.add(c, TrustDown, AnyScope, "tls-off", all)
			}
			if strings.Contains(low, "registry") && strings.Contains(low, "http") && !strings.Contains(low, "registry.npmjs.org") && !strings.Contains(low, "registry.npmmirror.com") && !strings.Contains(low, "localhost") {
				j.add(c, TrustDown, AnyScope, "registry-change", all)
			}
			if sh := ops[len(ops)-1]; strings.Contains(low, "script-shell") && strings.Contains(sh, "/") && !strings.HasPrefix(sh[strings.IndexByte(sh, '=')+1:], "/bin/") && !strings.Contains(sh, "/usr/bin/") {
				j.add(c, EnvHijack, AnyScope, "environment-hijack", all)
			}
		}
	case "yarn":
		global = first == "global" && (op(1) == "add" || op(1) == "remove" || op(1) == "upgrade")
	case "pip", "pip3", "uv":
		if name == "uv" && first == "pip" {
			ops = ops[1:]
			first = op(0)
		}
		global = c.optionFits("--br~eak-system-packages") || first == "install" && c.has("--system") && name == "uv"
		if first == "install" && strings.Contains(all, "--index-url http://") || c.has("--trusted-host") && first == "install" {
			j.add(c, TrustDown, AnyScope, "unsigned-package", all)
		}
	case "go":
		if first == "env" && c.has("-w") {
			for _, o := range c.argv()[2:] {
				switch k, v, _ := strings.Cut(o, "="); {
				case k == "GOFLAGS" && strings.Contains(v, "-toolexec"):
					j.add(c, EnvHijack, AnyScope, "environment-hijack", all)
				case k == "GOSUMDB" && v == "off", (k == "GONOSUMDB" || k == "GONOSUMCHECK" || k == "GOINSECURE") && v == "*", k == "GOFLAGS" && strings.Contains(v, "-insecure"):
					j.add(c, TrustDown, AnyScope, "unsigned-package", all)
				case k == "GOPROXY" && strings.HasPrefix(v, "http://") && !localHost(hostOf(v)):
					j.add(c, TrustDown, AnyScope, "registry-change", all)
				}
			}
		}
	case "easy_install":
		global = true
	}
	if global {
		j.add(c, GlobalInstall, AnyScope, "global-install", all)
	}
}

// sql judges statements of a database.
func (j *judge) sql(text string, from, to int) {
	j.clientShell(text, from, to)
	var made *bool // whether a constant of the text begins a statement that destroys; nil before it is asked for
	for i, stmt := range strings.Split(stripSQL(text), ";") {
		if i&255 == 255 && j.late(from, to) {
			return
		}
		f := strings.Fields(stmt)
		if len(f) < 2 {
			continue
		}
		if shellWords(f[0]) {
			continue
		}
		for i := range f {
			f[i] = strings.ToUpper(f[i])
		}
		// A client's own words may stand before the statement.
		for len(f) > 2 && strings.HasPrefix(f[0], "\\") {
			f = f[1:]
		}
		if begin := slices.Index(f, "BEGIN"); begin >= 0 && begin+2 < len(f) && (f[0] == "DO" || begin == 0) {
			f = f[begin+1:] // the first statement of a block
		}
		if f[0] == "EXPLAIN" {
			if f = explained(f); f == nil {
				continue
			}
		}
		one := func(rule string, s Scope) {
			j.addAt(DatabaseDestroy, s, rule, clip(strings.TrimSpace(stmt), 80), from, to)
		}
		switch f[0] {
		case "DROP":
			switch f[1] {
			case "DATABASE", "SCHEMA", "KEYSPACE", "TABLESPACE":
				one("sql-drop", Mass)
			case "POLICY":
				j.addAt(TrustDown, AnyScope, "database-rights", clip(strings.TrimSpace(stmt), 80), from, to)
			case "TABLE", "TABLES", "FOREIGN", "SUBSCRIPTION", "PUBLICATION", "VIEW", "COLLECTION", "USER", "ROLE", "MATERIALIZED", "BUCKET", "OWNED", "SEQUENCE", "TYPE", "EXTENSION", "SERVER", "NAMESPACE", "WAREHOUSE", "STREAM", "MEASUREMENT", "SERIES":
				one("sql-drop", One)
			}
		case "TRUNCATE":
			one("sql-truncate", One)
		case "DELETE":
			if contains(f, "FROM") && !whereNarrows(f) {
				one("sql-delete-all", One)
			}
		case "REMOVE": // SurrealQL
			switch f[1] {
			case "NAMESPACE", "NS", "DATABASE", "DB":
				one("sql-drop", Mass)
			case "TABLE":
				one("sql-drop", One)
			}
		case "RESET", "PURGE": // MySQL
			if f[1] == "MASTER" || f[1] == "BINARY" || f[1] == "SLAVE" || f[1] == "REPLICA" {
				one("database-delete", One)
			}
		case ".RESTORE": // sqlite3
			one("database-restore", One)
		case "UPDATE":
			if contains(f, "SET") && !whereNarrows(f) {
				one("sql-update-all", One)
			}
		case "ALTER", "CREATE":
			if f[1] == "SYSTEM" {
				j.addAt(Service, AnyScope, "database-config", clip(strings.TrimSpace(stmt), 80), from, to)
			}
			if (f[1] == "USER" || f[1] == "ROLE") && contains(f, "SUPERUSER") {
				j.addAt(TrustDown, AnyScope, "database-rights", clip(strings.TrimSpace(stmt), 80), from, to)
			}
			if f[0] == "ALTER" && f[1] == "TABLE" && contains(f, "TRUNCATE") {
				one("sql-truncate", One)
			}
			if f[0] == "ALTER" && f[1] == "TABLE" && contains(f, "DELETE") && !whereNarrows(f) { // ClickHouse
				one("sql-delete-all", One)
			}
			if f[0] == "ALTER" && f[1] == "TABLE" && contains(f, "DISABLE") && contains(f, "SECURITY") {
				j.addAt(TrustDown, AnyScope, "database-rights", clip(strings.TrimSpace(stmt), 80), from, to)
			}
			if f[0] == "ALTER" && contains(f, "DROP") && f[1] == "TABLE" && !contains(f, "CONSTRAINT") && !contains(f, "DEFAULT") && !contains(f, "NOT") {
				one("sql-drop", One)
			}
		case "MATCH": // Cypher
			if contains(f, "DELETE") && !whereNarrows(f) && strings.IndexByte(stmt, '{') < 0 {
				one("sql-delete-all", One)
			}
		case "GRANT":
			if on := slices.Index(f, "ON"); contains(f[:max(on, 2)], "ALL") || contains(f, "SUPERUSER") {
				j.addAt(TrustDown, AnyScope, "database-rights", clip(strings.TrimSpace(stmt), 80), from, to)
			}
		case "DETACH": // ClickHouse
			if contains(f, "PERMANENTLY") {
				one("sql-drop", One)
			}
		case "EXECUTE", "FOR", "IF", "PERFORM": // in a block, statements are made of text
			if made == nil {
				up := strings.ToUpper(text)
				found := strings.Contains(up, "'DROP ") || strings.Contains(up, "'TRUNCATE ") || strings.Contains(up, "'DELETE FROM ")
				made = &found
			}
			if *made && contains(f, "EXECUTE") {
				one("sql-drop", One)
			}
		case "COPY":
			if contains(f, "PROGRAM") {
				j.addAt(Opaque, Unknown, "sql-program", clip(strings.TrimSpace(stmt), 80), from, to)
			}
		case "SHUTDOWN", "FLUSHALL", "FLUSHDB":
			one("database-flush", Mass)
		case "WITH":
			if contains(f, "DELETE") && !contains(f, "WHERE") {
				one("sql-delete-all", One)
			}
		}
	}
}

// explained returns the statement that EXPLAIN ANALYZE runs; a plain EXPLAIN runs
// none.
func explained(f []string) []string {
	runs := false
	for i, w := range f {
		switch strings.Trim(w, "(),") {
		case "ANALYZE", "ANALYSE":
			runs = true
		case "DELETE", "UPDATE", "INSERT", "SELECT", "WITH", "MERGE":
			if runs && i+1 < len(f) {
				return f[i:]
			}
			return nil
		}
	}
	return nil
}

// whereNarrows reports whether a condition leaves something out: one of its
// alternatives that always holds takes in everything.
func whereNarrows(f []string) bool {
	for i, w := range f {
		if w == "WHERE" {
			cond := ""
			for _, w := range append(f[i+1:len(f):len(f)], "OR") {
				if w != "OR" {
					cond += w
					continue
				}
				if always(strings.Trim(cond, "()")) {
					return false
				}
				cond = ""
			}
			return true
		}
		if w == "LIMIT" {
			return true
		}
	}
	return false
}

func always(cond string) bool {
	switch cond {
	case "TRUE", "1", "1<2", "2>1", "NOTFALSE", "1<>2", "1!=2":
		return true
	}
	a, b, ok := strings.Cut(cond, "=")
	return ok && a == b
}

func contains(f []string, word string) bool {
	for _, w := range f {
		if strings.Trim(w, "(),") == word {
			return true
		}
	}
	return false
}

// shellWords tells the words by which a database's client runs a shell.
func shellWords(word string) bool {
	switch word {
	case ".shell", ".system", ".sh", `\!`, "system", "!", "!!":
		return true
	}
	return false
}

// clientShell judges what a database's client gives to a shell: the rest of the line,
// whatever SQL would call a comment.
func (j *judge) clientShell(text string, from, to int) {
	if strings.IndexByte(text, '!') < 0 && !strings.Contains(text, "sh") && !strings.Contains(text, "system") {
		return
	}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		for rest := line; rest != ""; {
			if n++; n&255 == 255 && j.late(from, to) {
				return
			}
			t := strings.TrimLeft(rest, " \t\r")
			if word, _, ok := strings.Cut(t[:min(len(t), 10)], " "); ok && shellWords(word) {
				j.inner(t[len(word):], shell.POSIX, from, to)
				break
			}
			_, rest, _ = strings.Cut(rest, ";")
		}
	}
}

// stripSQL blanks comments and string contents.
func stripSQL(s string) string {
	if strings.IndexByte(s, '\'') < 0 && !strings.Contains(s, "--") && !strings.Contains(s, "/*") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			b.WriteByte('\'')
			for i++; i < len(s) && s[i] != '\''; i++ {
				if s[i] == '1' {
					b.WriteByte('1')
				}
			}
			b.WriteByte('\'')
		case strings.HasPrefix(s[i:], "--"):
			for i < len(s) && s[i] != '\n' {
				i++
			}
			b.WriteByte('\n')
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return b.String()
			}
			i += end + 3
			b.WriteByte(' ')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > n {
		for n > 0 && s[n]&0xC0 == 0x80 {
			n--
		}
		return s[:n] + "…"
	}
	return s
}

// localFeed reports whether a package goes to a folder and not to a service.
func (j *judge) localFeed(c *call) bool {
	s := c.opt("-s", "--source", "-Source")
	if s == nil || len(s.Holes)+len(s.Alts) > 0 {
		return false
	}
	t := strings.ReplaceAll(s.Text, `\`, "/")
	return strings.HasPrefix(t, "./") || strings.HasPrefix(t, "../") || strings.HasPrefix(t, "/") || drive(t)
}
