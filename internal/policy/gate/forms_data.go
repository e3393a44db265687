package gate

// The forms of forms.go. Where two forms of a program fit, the first counts.

// formsOf returns the forms of a program, nil if none are told.
func formsOf(name string) []form {
	switch name {
	case "git-filter-repo", "bfg":
		return rewriteForms
	case "gh":
		return ghForms
	case "glab":
		return glabForms
	case "hg", "sl":
		return hgForms
	case "svn", "svnadmin":
		return svnForms
	case "jj":
		return jjForms
	case "p4":
		return p4Forms
	case "fossil", "bzr":
		return fossilForms
	case "docker", "podman", "nerdctl", "buildah":
		return containerForms
	case "ctr", "crictl":
		return runtimeForms
	case "skopeo", "crane", "oras", "regctl", "ko":
		return registryForms
	case "lxc", "incus", "virsh", "VBoxManage", "vboxmanage", "limactl", "docker-machine", "qm", "pct", "prlctl":
		return machineForms
	case "kubectl", "oc", "k", "kubecolor":
		return kubectlForms
	case "helmfile":
		return helmfileForms
	case "helm", "argocd", "karmadactl", "kubectl-argo-rollouts", "eksctl":
		return clusterForms
	case "k3s-uninstall.sh", "k3s-agent-uninstall.sh", "rke2-uninstall.sh":
		return uninstallerForms
	case "linkerd":
		return linkerdForms
	case "okteto":
		return oktetoForms
	case "kops":
		return kopsForms
	case "terraform", "tofu", "terragrunt", "bosh", "cdk":
		return infraForms
	case "pulumi":
		return pulumiForms
	case "cdktf":
		return cdktfForms
	case "nixops":
		return nixopsForms
	case "ansible":
		return ansibleForms
	case "salt", "salt-call", "salt-ssh":
		return saltForms
	case "salt-key":
		return saltKeyForms
	case "aws", "awslocal":
		return awsForms
	case "gcloud", "gsutil", "bq":
		return googleForms
	case "az":
		return azureForms
	case "doctl", "hcloud", "linode-cli", "cf", "mc", "mcli", "b2", "databricks", "modal":
		return cloudForms
	case "aliyun", "tccli", "ibmcloud":
		return apiForms
	case "swift", "ossutil", "ossutil64", "coscmd":
		return cloudFileForms
	case "s3cmd":
		return s3cmdForms
	case "rclone":
		return rcloneForms
	case "dvc", "mlflow", "wandb":
		return dataToolForms
	case "fly", "flyctl":
		return flyForms
	case "heroku":
		return herokuForms
	case "vercel":
		return vercelForms
	case "netlify":
		return netlifyForms
	case "wrangler":
		return wranglerForms
	case "supabase":
		return supabaseForms
	case "firebase":
		return firebaseForms
	case "railway":
		return railwayForms
	case "fastly", "algolia", "stripe", "jenkins-cli", "buildkite-agent", "bk", "drone", "pscale", "neonctl", "convex", "eas", "electron-builder", "ldcli", "travis":
		return hostForms
	case "wp":
		return wordpressForms
	case "drush":
		return drushForms
	case "dnscontrol", "pdnsutil", "rndc", "knotc", "cloudflared":
		return dnsForms
	case "octodns-sync":
		return octodnsForms
	case "certbot":
		return certbotForms
	case "postsuper":
		return postfixForms
	case "exim", "exim4", "doveadm":
		return mailForms
	case "deck", "apigee", "apigeecli", "flipt":
		return gatewayForms
	case "op", "doppler", "bw", "pass", "gopass", "infisical", "chamber", "akeyless", "keepassxc-cli", "lpass":
		return vaultForms
	case "temporal", "airflow", "prefect", "dagster":
		return workflowForms
	case "celery", "rq":
		return queueForms
	case "solr", "neo4j-admin", "arangosh", "elasticdump":
		return searchForms
	case "zkCli.sh", "zookeepercli", "zookeeper-shell", "zookeeper-shell.sh":
		return keeperForms
	case "nats":
		return natsForms
	case "pulsar-admin":
		return pulsarForms
	case "rabbitmqctl", "rabbitmqadmin":
		return rabbitForms
	case "etcdctl":
		return etcdForms
	case "consul":
		return consulForms
	case "vault":
		return hashiVaultForms
	case "nomad":
		return nomadForms
	case "nodetool":
		return cassandraForms
	case "kafka-topics", "kafka-configs", "kafka-acls", "kafka-storage", "kafka-streams-application-reset", "kafka-consumer-groups", "kafka-leader-election":
		return kafkaForms
	case "kafkactl", "kaf", "rpk":
		return kafkaToolForms
	case "mysqladmin":
		return databaseForms
	case "dropdb", "dropuser":
		return dropForms
	case "pg_restore":
		return pgRestoreForms
	case "mongorestore", "mongoimport":
		return mongoRestoreForms
	case "pg_ctl", "pg_ctlcluster":
		return postgresForms
	case "pg_dropcluster", "pg_resetwal":
		return clusterDropForms
	case "alembic", "flask", "aerich", "knex", "sequelize", "sequelize-cli", "typeorm", "mikro-orm", "drizzle-kit", "dotnet-ef":
		return migrationForms
	case "rails", "rake":
		return railsForms
	case "manage.py", "django-admin":
		return djangoForms
	case "flyway", "liquibase":
		return flywayForms
	case "artisan", "console":
		return artisanForms
	case "mix":
		return mixForms
	case "goose":
		return gooseForms
	case "migrate":
		return golangMigrateForms
	case "dbmate", "sqlx", "cargo-sqlx", "sea-orm-cli", "phinx", "cake", "hasura", "sqitch", "atlas", "tern", "db-migrate", "kysely", "diesel":
		return migrateForms
	case "cargo":
		return packageForms
	case "dotnet":
		return dotnetForms
	case "npm", "pnpm":
		return npmForms
	case "pip", "pip3":
		return pipForms
	case "yarn":
		return yarnForms
	case "gem":
		return gemForms
	case "dart", "flutter":
		return pubForms
	case "gradle", "gradlew":
		return gradleForms
	case "mvn":
		return mavenForms
	case "sbt":
		return scalaForms
	case "lein":
		return leinForms
	case "nuget", "choco", "pod", "anaconda", "snapcraft", "ansible-galaxy", "hf", "huggingface-cli", "wasm-pack", "apm":
		return uploadForms
	case "conan":
		return conanForms
	case "conda", "mamba", "micromamba":
		return condaForms
	case "nx":
		return nxForms
	case "rush":
		return rushForms
	case "release-it", "np", "semantic-release", "cpan-upload":
		return releaseForms
	case "composer":
		return composerForms
	case "maturin":
		return maturinForms
	case "python", "python3":
		return setupForms
	case "restic", "borgmatic", "duplicity", "kopia", "snapper", "bup", "rdiff-backup", "barman", "pgbackrest", "wal-g", "proxmox-backup-client", "duplicacy", "tarsnap":
		return backupForms
	case "timeshift":
		return timeshiftForms
	case "borg":
		return borgForms
	case "cryptsetup":
		return cryptForms
	case "zfs":
		return zfsForms
	case "zpool":
		return zpoolForms
	case "btrfs":
		return btrfsForms
	case "pvcreate", "vgcreate":
		return newVolumeForms
	case "mdadm":
		return mdadmForms
	case "resize2fs", "xfs_repair", "tune2fs", "ntfsresize":
		return diskToolForms
	case "debugfs", "fsck", "e2fsck", "fsck.ext4", "fsck.ext3", "fsck.ext2", "fsck.vfat", "fsck.fat":
		return repairForms
	case "ceph", "rbd", "rados", "gluster", "drbdadm":
		return cephForms
	case "scrub", "nwipe":
		return wiperForms
	case "sgdisk":
		return partitionForms
	case "sfdisk":
		return sfdiskForms
	case "fdisk", "gdisk":
		return fdiskForms
	case "parted":
		return partedForms
	case "systemctl":
		return serviceForms
	case "sv", "initctl", "monit", "caddy", "svcadm", "squid", "dinitctl", "varnishadm":
		return daemonForms
	case "s6-svc":
		return s6Forms
	case "nginx", "apachectl", "apache2ctl", "httpd":
		return webServerForms
	case "pm2":
		return pm2Forms
	case "umount":
		return umountForms
	case "brew":
		return brewForms
	case "loginctl":
		return loginForms
	case "busctl", "dbus-send", "gdbus":
		return busForms
	case "iptables-restore", "ip6tables-restore":
		return firewallForms
	case "nft":
		return nftForms
	case "ipset", "fail2ban-client":
		return banForms
	case "ip":
		return ipForms
	case "ifconfig":
		return ifconfigForms
	case "nmcli":
		return nmcliForms
	case "route":
		return routeForms
	case "tc":
		return tcForms
	case "rfkill":
		return rfkillForms
	case "ifdown":
		return ifdownForms
	case "networksetup":
		return networkSetupForms
	case "dmesg", "logrotate":
		return kernelLogForms
	case "nix-env":
		return nixEnvForms
	case "nix-collect-garbage", "nix-store":
		return nixStoreForms
	case "nix", "guix", "mas", "opkg":
		return systemPackageForms
	case "pkg":
		return pkgForms
	case "emerge":
		return emergeForms
	case "pacman", "yay", "paru":
		return pacmanForms
	case "rpm":
		return rpmForms
	case "dnf", "yum", "microdnf", "zypper":
		return dnfForms
	case "passwd", "dscl", "pw", "realm":
		return userForms
	}
	return rareForms(name)
}

var rewriteForms = []form{
	{"--analyze|--help|--version", NoEffect, 0, ""},
	{"", HistoryDestroy, AnyScope, "git-filter-branch"},
}

var ghForms = []form{
	{"api */branches/*/protection* -X|--method=put,patch,post", RepoDestroy, One, "repo-change"},
	{"api */rulesets/* -X|--method=put", RepoDestroy, One, "repo-change"},
	{"repo deploy-key add", Persistence, AnyScope, "authorized-keys"},
	{"repo deploy-key|autolink delete", RepoDestroy, One, "repo-delete"},
	{"repo sync --force", PushForce, AnyScope, "git-push-force"},
	{"release delete-asset", RepoDestroy, One, "repo-delete"},
	{"project delete|item-delete|field-delete|item-archive", RepoDestroy, One, "repo-delete"},
	{"pr close -d|--delete-branch", PushForce, AnyScope, "git-push-delete"},
	{"api */git/refs/* -X|--method=patch -f|-F|--field|--raw-field=force=true", PushForce, AnyScope, "git-push-force"},
	{"api */actions/permissions* -X|--method=put -f|-F|--field|--raw-field=enabled=false", RepoDestroy, One, "repo-change"},
	{"api *repos/* -X|--method=patch -f|-F|--field|--raw-field=archived=true,private=*,visibility=*,default_branch=*", RepoDestroy, One, "repo-change"},
}

var glabForms = []form{
	{"repo|project archive", NoEffect, 0, ""}, // fetches one
	{"project delete", RepoDestroy, AnyScope, "repo-delete"},
	{"token revoke", RepoDestroy, One, "repo-delete"},
	{"snippet|milestone|incident|deploy-key|securefile|iteration delete|remove", RepoDestroy, One, "repo-delete"},
}

var hgForms = []form{
	{"purge|clean -p|--print", NoEffect, 0, ""},
	{"strip|rollback|histedit", DiscardWork, AnyScope, "vcs-discard"},
	{"update|up|checkout|co|goto|go -C|--clean", DiscardWork, AnyScope, "vcs-discard"},
	{"push -f|--force", PushForce, AnyScope, "git-push-force"},
	{"clean|purge|uncommit", DiscardWork, AnyScope, "vcs-discard"},
}

var svnForms = []form{
	{"revert --depth=infinity", DiscardWork, AnyScope, "vcs-discard"},
	{"cleanup --remove-unversioned|--remove-ignored", DiscardWork, AnyScope, "vcs-discard"},
	{"rmtxns|rmlocks", RepoDestroy, One, "repo-delete"},
}

var jjForms = []form{
	{"op|operation restore|abandon|revert", DiscardWork, AnyScope, "vcs-discard"},
	{"restore", DiscardWork, AnyScope, "vcs-discard"},
	{"git push --deleted|--delete|-d", PushForce, AnyScope, "git-push-delete"},
	{"bookmark|b|branch delete|d|forget", DiscardWork, AnyScope, "git-branch-delete"},
}

var p4Forms = []form{
	{"revert -n", NoEffect, 0, ""},
	{"clean -n", NoEffect, 0, ""},
	{"clean", DiscardWork, AnyScope, "vcs-discard"},
	{"client|workspace|branch|label|user -d", RepoDestroy, One, "repo-delete"},
}

var fossilForms = []form{
	{"revert|uncommit", DiscardWork, AnyScope, "vcs-discard"},
	{"clean|clean-tree --force|-f", DiscardWork, AnyScope, "vcs-discard"},
}

var containerForms = []form{
	{"image|plugin|compose|manifest push", Publish, AnyScope, "image-push"},
	{"buildx|builder build|bake|b --push", Publish, AnyScope, "image-push"},
	{"build|image --push", Publish, AnyScope, "image-push"},
	{"buildx|builder|image build|b --output|-o=*type=registry*,*push=true*", Publish, AnyScope, "image-push"},
	{"build --output|-o=*type=registry*", Publish, AnyScope, "image-push"},
	{"system prune|reset", ContainerWipe, AnyScope, "container-prune"},
	{"image prune -a|--all", ContainerWipe, AnyScope, "container-prune"},
	{"rm -v|--volumes -f|--force", ContainerWipe, AnyScope, "volume-delete"},
	{"container rm|remove -v|--volumes -f|--force", ContainerWipe, AnyScope, "volume-delete"},
	{"run|create --cap-add=all,sys_admin,sys_ptrace,sys_module,sys_rawio,cap_sys_admin", TrustDown, AnyScope, "privileged-container"},
	{"run|create --security-opt=*unconfined*", TrustDown, AnyScope, "privileged-container"},
	{"run|create --pid|--userns=host", TrustDown, AnyScope, "privileged-container"},
	{"run|create --device=/dev/sd*,/dev/nvme*,/dev/vd*,/dev/xvd*,/dev/mem*,/dev/dm-*,/dev/mapper/*,/dev/disk*", TrustDown, AnyScope, "privileged-container"},
	{"node demote", ContainerWipe, AnyScope, "stack-remove"},
	{"swarm init --force-new-cluster", ContainerWipe, AnyScope, "stack-remove"},
	{"node update --availability=drain", ContainerWipe, AnyScope, "stack-remove"},
	{"stack down|rm|remove", ContainerWipe, AnyScope, "stack-remove"},
	{"plugin rm|remove -f|--force", ContainerWipe, AnyScope, "stack-remove"},
	{"pod rm|stop|kill -a|--all", ContainerWipe, AnyScope, "container-remove-all"},
	{"pod prune", ContainerWipe, AnyScope, "container-prune"},
	{"machine rm|reset", ContainerWipe, AnyScope, "vm-destroy"},
	{"kube down --force", ContainerWipe, AnyScope, "volume-delete"},
	{"namespace|ns rm|remove", ContainerWipe, AnyScope, "container-prune"},
	{"volume rm|remove|prune", ContainerWipe, AnyScope, "volume-delete"},
	{"network prune !--filter", ContainerWipe, AnyScope, "container-prune"},
	{"container prune !--filter", ContainerWipe, AnyScope, "container-prune"},
	{"builder|buildx prune -a|--all", ContainerWipe, AnyScope, "container-prune"},
}

var runtimeForms = []form{
	{"rmi -a|--all|-q|--prune", ContainerWipe, AnyScope, "container-prune"},
	{"rm|rmp|stop|stopp -a|--all", ContainerWipe, AnyScope, "container-remove-all"},
	{"ns|namespaces|namespace rm|remove|delete|del", ContainerWipe, AnyScope, "container-prune"},
}

var registryForms = []form{
	{"manifest|tag|blob|repo delete|rm", CloudDestroy, One, "cloud-delete"},
	{"rm|delete", CloudDestroy, One, "cloud-delete"},
	{"append|mutate|publish|apply|sync", Publish, AnyScope, "image-push"},
}

var machineForms = []form{
	{"rm|remove", ContainerWipe, AnyScope, "vm-destroy"},
	{"storage|network|cluster * delete|rm|remove", ContainerWipe, AnyScope, "vm-destroy"},
	{"snapshot * delete", ContainerWipe, AnyScope, "vm-destroy"},
	{"closemedium --delete", ContainerWipe, AnyScope, "vm-destroy"},
	{"stop -a|--all", Service, AnyScope, "service-stop"},
	{"snapshot-revert|rollback", ContainerWipe, AnyScope, "vm-restore"},
	{"snapshot * restore|restorecurrent", ContainerWipe, AnyScope, "vm-restore"},
	{"restore * *", ContainerWipe, AnyScope, "vm-restore"},
	{"controlvm * poweroff|reset", Service, AnyScope, "service-stop"},
	{"snapshot-delete|vol-wipe|delsnapshot|checkpoint-delete|pool-destroy|net-destroy", ContainerWipe, AnyScope, "vm-destroy"},
}

var kubectlForms = []form{
	{"run|debug --overrides=*privileged*true*,*hostpid*true*,*hostnetwork*true*,*hostpath*", TrustDown, AnyScope, "privileged-container"},
	{"create token", SecretRead, AnyScope, "secret-tool"},
	{"certificate approve", TrustDown, AnyScope, "cloud-rights"},
	{"apply --force", ClusterDestroy, One, "cluster-delete"}, // deletes what it cannot change, and makes it again
	{`patch -p|--patch=*replicas":0*`, ClusterDestroy, One, "cluster-scale-down"},
	{"config set-cluster --insecure-skip-tls-verify", TrustDown, AnyScope, "tls-off"},
	{"proxy --address=0.0.0.0", Listen, AnyScope, "listen"},
	{"create clusterrolebinding|rolebinding --clusterrole=cluster-admin,admin", TrustDown, AnyScope, "cloud-rights"},
	{"patch +*remove*finalizers*|*finalizers*null*|*finalizers*[]*", ClusterDestroy, One, "cluster-delete"},
	{"patch -p|--patch=*remove*finalizers*,*finalizers*null*,*finalizers*[]*", ClusterDestroy, One, "cluster-delete"},
	{"adm drain|cordon", ClusterDestroy, One, "cluster-drain"},
	{"adm prune --confirm", ClusterDestroy, One, "cluster-delete"},
	{"adm policy add-cluster-role-to-user|add-cluster-role-to-group|add-scc-to-user|add-scc-to-group|remove-*", TrustDown, AnyScope, "cloud-rights"},
	{"rollback", Apply, AnyScope, "cluster-apply"},
}

// In a cluster's neighbourhood some programs print what others then do.
var clusterForms = []form{
	{"push|cm-push", Publish, AnyScope, "package-publish"},
	{"app rollback", Apply, AnyScope, "cluster-apply"},
	{"unjoin", ClusterDestroy, One, "cluster-delete"},
	{"abort|retry", Apply, AnyScope, "cluster-apply"},
	{"drain nodegroup", ClusterDestroy, One, "cluster-drain"},
	{"scale nodegroup -N|--nodes=0", ClusterDestroy, One, "cluster-scale-down"},
}

var helmfileForms = []form{{"destroy|delete", ClusterDestroy, Mass, "cluster-delete"}}

// k3s and rke2 bring a program that takes them off with all that ran in them.
var uninstallerForms = []form{{"", ClusterDestroy, Mass, "cluster-delete"}}

var linkerdForms = []form{{"uninstall|install|upgrade|inject", NoEffect, 0, ""}} // prints manifests

var oktetoForms = []form{
	{"down -v|--volumes", ClusterDestroy, One, "cluster-delete"},
	{"down", NoEffect, 0, ""}, // back from development mode
}

// kops shows what it would do until it is told --yes.
var kopsForms = []form{
	{"!-y|--yes", NoEffect, 0, ""},
	{"update|rolling-update|replace|upgrade", Apply, AnyScope, "cluster-apply"},
}

var infraForms = []form{
	{"--preview-only", NoEffect, 0, ""},
	{"init -force-copy|--force-copy", CloudDestroy, One, "infrastructure-state"},
	{"destroy-all", CloudDestroy, Mass, "infrastructure-destroy"},
	{"stack run destroy", CloudDestroy, Mass, "infrastructure-destroy"},
	{"apply-all", Apply, AnyScope, "infrastructure-apply"},
	{"stack run apply", Apply, AnyScope, "infrastructure-apply"},
	{"deld|delete-deployment|deldsk", CloudDestroy, Mass, "infrastructure-destroy"},
	{"state remove|unprotect|move|rename|mv", CloudDestroy, One, "infrastructure-state"},
}

var pulumiForms = []form{
	{"--preview-only", NoEffect, 0, ""},
	{"down|dn -y|--yes|-f|--skip-preview", CloudDestroy, Mass, "infrastructure-destroy"},
	{"down|dn", CloudDestroy, One, "infrastructure-destroy"},
	{"update|watch|import", Apply, AnyScope, "infrastructure-apply"},
	{"cancel", CloudDestroy, One, "infrastructure-state"},
	{"state delete|remove|unprotect|move|rename", CloudDestroy, One, "infrastructure-state"},
	{"stack import|rm|remove", CloudDestroy, One, "infrastructure-state"},
}

var cdktfForms = []form{{"apply|deploy", Apply, AnyScope, "infrastructure-apply"}}

var nixopsForms = []form{{"destroy|delete|delete-resources", CloudDestroy, Mass, "infrastructure-destroy"}}

// What a module does to the machines says its argument: state=absent, stopped.
var ansibleForms = []form{
	{"-C|--check", NoEffect, 0, ""},
	{"-m|--module-name=reboot,*.reboot", Power, AnyScope, "power"},
	{"-m|--module-name=file,*.file -a|--args=*state=absent*", Delete, Outside, "delete-remote"},
	{"-m|--module-name=service,systemd,sysvinit,systemd_service,*.service,*.systemd,*.systemd_service -a|--args=*stopped*,*enabled=no*,*masked=yes*", Service, AnyScope, "service-stop"},
	{"-m|--module-name=user,group,*.user,*.group,authorized_key,*.authorized_key", UserAccount, AnyScope, "user-account"},
	{"-m|--module-name=postgresql_db,mysql_db,mongodb_user,*.postgresql_db,*.mysql_db -a|--args=*state=absent*", DatabaseDestroy, Mass, "database-drop"},
	{"-m|--module-name=apt,yum,dnf,package,pip,*.apt,*.yum,*.dnf,*.package -a|--args=*absent*,*state=removed*", GlobalInstall, One, "system-package-remove"},
	{"-m|--module-name=filesystem,parted,lvol,lvg,*.filesystem,*.parted,*.lvol,*.lvg", Disk, AnyScope, "disk-format"},
}

var saltKeyForms = []form{{"-D|--delete-all|-d|--delete", Service, AnyScope, "sign-out"}}

var saltForms = []form{
	{"+test=true", NoEffect, 0, ""},
	{"* system.reboot|system.shutdown|system.poweroff|system.halt", Power, AnyScope, "power"},
	{"* service.stop|service.disable|service.mask", Service, AnyScope, "service-stop"},
	{"* file.remove|file.rmdir", Delete, Outside, "delete-remote"},
	{"* pkg.remove|pkg.purge", GlobalInstall, One, "system-package-remove"},
	{"* user.delete|user.add|group.delete|shadow.*", UserAccount, AnyScope, "user-account"},
	{"* postgres.db_remove|mysql.db_remove|mongodb.db_remove", DatabaseDestroy, Mass, "database-drop"},
}

var awsForms = []form{
	{"--generate-cli-skeleton", NoEffect, 0, ""}, // prints a form and calls nobody
	{"organizations close-account|leave-organization", CloudDestroy, Mass, "cloud-delete"},
	{"organizations detach-policy|disable-policy-type", TrustDown, AnyScope, "cloud-rights"},
	{"s3api put-object-acl --acl=public-read*", TrustDown, AnyScope, "cloud-rights"},
	{"s3api|s3control put-public-access-block +*=false*", TrustDown, AnyScope, "cloud-rights"},
	{"s3api|s3control put-public-access-block --public-access-block-configuration=*false*", TrustDown, AnyScope, "cloud-rights"},
	{"s3api put-bucket-versioning --versioning-configuration=*suspended*", CloudDestroy, One, "cloud-delete"},
	{"s3api put-bucket-lifecycle*", CloudDestroy, One, "cloud-delete"}, // deletes what grows old
	{"ec2 modify-snapshot-attribute|modify-image-attribute|modify-db-snapshot-attribute +all", TrustDown, AnyScope, "cloud-rights"},
	{"ec2 modify-snapshot-attribute|modify-image-attribute --group-names=all", TrustDown, AnyScope, "cloud-rights"},
	{"ec2 revoke-security-group-*|authorize-security-group-*", TrustDown, AnyScope, "cloud-rights"},
	{"ec2 cancel-spot-* --terminate-instances", CloudDestroy, Mass, "cloud-delete"},
	{"ec2 detach-*|disassociate-*|reset-*", CloudDestroy, One, "cloud-stop"},
	{"* * --no-deletion-protection|--no-deletion-protection-enabled|--no-disable-api-termination|--no-enable-termination-protection", TrustDown, AnyScope, "cloud-rights"},
	{"rds failover-*|reset-db-*", CloudDestroy, One, "cloud-stop"},
	{"* reboot-*|pause-*|failover-*|rebuild-*", CloudDestroy, One, "cloud-stop"},
	{"transfer|mq|lightsail|neptune|docdb|glue|workspaces|sagemaker stop-server|stop-instance|stop-db-*|stop-trigger|stop-workspaces|stop-notebook-instance", CloudDestroy, One, "cloud-stop"},
	{"rds modify-db-* --backup-retention-period=0", TrustDown, AnyScope, "cloud-rights"},
	{"dynamodb update-continuous-backups --point-in-time-recovery-specification=*false*", TrustDown, AnyScope, "cloud-rights"},
	{"iam update-account-password-policy", TrustDown, AnyScope, "cloud-rights"},
	{"ec2 create-network-acl-entry|replace-network-acl-entry --rule-action=allow --cidr-block=0.0.0.0/0", TrustDown, AnyScope, "cloud-rights"},
	{"ec2 modify-security-group-rules|disable-ebs-encryption-by-default|disable-image-block-public-access|disable-snapshot-block-public-access", TrustDown, AnyScope, "cloud-rights"},
	{"eks update-cluster-config --resources-vpc-config=*0.0.0.0/0*", TrustDown, AnyScope, "cloud-rights"},
	{"kms revoke-grant|retire-grant", TrustDown, AnyScope, "cloud-rights"},
	{"lambda put-function-concurrency --reserved-concurrent-executions=0", CloudDestroy, One, "cloud-stop"},
	{`lambda add-permission --principal=\*`, TrustDown, AnyScope, "cloud-rights"},
	{"ecs update-service --desired-count=0", CloudDestroy, One, "cloud-stop"},
	{"ecs stop-task", CloudDestroy, One, "cloud-stop"},
	{"autoscaling set-desired-capacity --desired-capacity=0", CloudDestroy, One, "cloud-stop"},
	{"autoscaling update-auto-scaling-group --max-size|--desired-capacity=0", CloudDestroy, One, "cloud-stop"},
	{"cloudtrail|configservice|guardduty|securityhub|macie2|accessanalyzer stop-*|disable-*|disassociate-*", TrustDown, System, "guard-off"},
	{"cognito-idp admin-delete-*|admin-disable-*", CloudDestroy, One, "cloud-delete"},
	{"wafv2|waf disassociate-*", TrustDown, System, "guard-off"},
	{"ssm send-command", Opaque, Unknown, "unknown-command-text"},
	{"route53 change-resource-record-sets --change-batch=*delete*", CloudDestroy, One, "cloud-delete"},
	{"route53 change-resource-record-sets --change-batch=file:*", Apply, AnyScope, "dns-change"},
	{"ses|sesv2|ses-v2 send-*", Publish, AnyScope, "message-send"},
	{"sns publish --phone-number", Publish, AnyScope, "message-send"},
	{"pinpoint|pinpoint-sms-voice-v2 send-*", Publish, AnyScope, "message-send"},
	{"ec2 get-password-data --priv-launch-key", SecretRead, AnyScope, "secret-tool"},
	{"iam detach-*|deactivate-*|update-assume-role-policy|set-default-policy-version|update-login-profile|add-role-to-*|update-access-key|upload-*", TrustDown, System, "cloud-rights"},
	{"iam create-policy-version --set-as-default", TrustDown, System, "cloud-rights"},
	{"dynamodb execute-statement --statement=delete*,drop*", CloudDestroy, One, "cloud-delete"},
	{"secretsmanager batch-get-secret-value", SecretRead, AnyScope, "secret-tool"},
	{"sts get-federation-token|assume-role-with-*", SecretRead, AnyScope, "secret-tool"},
}

var googleForms = []form{
	{"--dry_run|--dry-run", NoEffect, 0, ""},
	{"pubsub topics publish", NoEffect, 0, ""},
	{"rsync -n", NoEffect, 0, ""},
	{`rm +\*`, CloudDestroy, Mass, "cloud-delete"}, // gs://bucket/**
	{"projects delete", CloudDestroy, Mass, "cloud-delete"},
	{"alpha|beta projects delete", CloudDestroy, Mass, "cloud-delete"},
	{"sql|container|spanner|bigtable|alloydb|firestore instances|databases|clusters delete", CloudDestroy, Mass, "cloud-delete"},
	{"alpha|beta sql|container|spanner|bigtable|alloydb|firestore instances|databases|clusters delete", CloudDestroy, Mass, "cloud-delete"},
	{"compute instances stop|suspend|reset", CloudDestroy, One, "cloud-stop"},
	{"compute firewall-rules create|update --source-ranges=*0.0.0.0/0*", TrustDown, AnyScope, "cloud-rights"},
	{"compute instance-groups managed resize --size=0", CloudDestroy, One, "cloud-stop"},
	{"container clusters resize --num-nodes|--size=0", CloudDestroy, One, "cloud-stop"},
	{"* * update|patch --no-deletion-protection", TrustDown, AnyScope, "cloud-rights"},
	{"storage rsync --delete-unmatched-destination-objects", CloudDestroy, One, "cloud-sync-delete"},
	{"pubsub subscriptions|snapshots seek", CloudDestroy, One, "cloud-delete"},
	{"auth revoke", Service, AnyScope, "sign-out"},
	{"auth application-default revoke", Service, AnyScope, "sign-out"},
	{"services disable", CloudDestroy, One, "cloud-stop"},
	{"sql instances restart", CloudDestroy, One, "cloud-stop"},
	{"sql instances failover", CloudDestroy, One, "cloud-stop"},
	{"sql backups restore", DatabaseDestroy, One, "database-restore"},
	{"sql users set-password", TrustDown, AnyScope, "cloud-rights"},
	{"kms keys versions disable", CloudDestroy, One, "cloud-stop"},
	{"scheduler|dataproc|notebooks jobs|clusters|instances pause|stop", CloudDestroy, One, "cloud-stop"},
	{"billing|beta projects unlink", CloudDestroy, One, "cloud-stop"},
	{"firestore import", DatabaseDestroy, One, "database-restore"},
	{"dns record-sets transaction execute", Apply, AnyScope, "dns-change"},
	{"lifecycle set", CloudDestroy, One, "cloud-delete"}, // deletes what grows old
	{"projects|organizations|iam|resource-manager add-iam-policy-binding|set-iam-policy|remove-iam-policy-binding", TrustDown, System, "cloud-rights"},
	{"* * add-iam-policy-binding --member=allusers*,allauthenticatedusers*", TrustDown, System, "cloud-rights"},
	{"* * add-iam-policy-binding|set-iam-policy|remove-iam-policy-binding", TrustDown, AnyScope, "cloud-rights"},
	{"resource-manager folders|organizations add-iam-policy-binding|set-iam-policy", TrustDown, System, "cloud-rights"},
	{"iam service-accounts keys create", SecretRead, AnyScope, "secret-tool"},
	{"acl|defacl|iam ch +allusers*|allauthenticatedusers*", TrustDown, AnyScope, "cloud-rights"},
	{"acl|defacl|iam set|ch -u=allusers*,allauthenticatedusers*", TrustDown, AnyScope, "cloud-rights"},
	{"acl|defacl set public-read*", TrustDown, AnyScope, "cloud-rights"},
}

var azureForms = []form{
	{"-h.", NoEffect, 0, ""},
	{"extension remove", NoEffect, 0, ""}, // az's own
	{`network nsg rule create|update --source-address-prefixes|--source-address-prefix=\*,internet,0.0.0.0/0 !--access=deny`, TrustDown, AnyScope, "cloud-rights"},
	{"vm|webapp|functionapp|aks|vmss|mysql|postgres|containerapp|container|cosmosdb stop|deallocate|redeploy", CloudDestroy, One, "cloud-stop"},
	{"redis force-reboot", CloudDestroy, One, "cloud-stop"},
	{"storage account update|create --allow-blob-public-access=true", TrustDown, AnyScope, "cloud-rights"},
	{"sql|postgres|mysql|mariadb server firewall-rule create|update --end-ip-address=255.255.255.255", TrustDown, AnyScope, "cloud-rights"},
	{"mysql|postgres flexible-server stop", CloudDestroy, One, "cloud-stop"},
	{"role assignment|definition create|update|delete", TrustDown, System, "cloud-rights"},
	{"deployment group|sub|mg|tenant create --mode=complete", CloudDestroy, Mass, "infrastructure-destroy"},
	{"backup protection disable", CloudDestroy, Mass, "cloud-delete"},
	{"vm|vmss run-command invoke|create", Opaque, Unknown, "unknown-command-text"},
	{"account clear", Service, AnyScope, "sign-out"},
	{"logout", Service, AnyScope, "sign-out"},
	{"ad sp create-for-rbac --role=owner,contributor,*administrator*", TrustDown, System, "cloud-rights"},
	{"ad app|sp credential reset|delete", TrustDown, System, "cloud-rights"},
	{"acr credential show|renew", SecretRead, AnyScope, "secret-tool"},
	{"storage account keys list|renew", SecretRead, AnyScope, "secret-tool"},
	{"cosmosdb|redis|search|batch|iot|eventhubs|servicebus|functionapp|signalr|maps|cognitiveservices keys|admin-key|list-keys|regenerate-keys list|show|renew|regenerate", SecretRead, AnyScope, "secret-tool"},
	{"redis|signalr list-keys", SecretRead, AnyScope, "secret-tool"},
	{"webapp|functionapp deployment list-publishing-profiles|list-publishing-credentials", SecretRead, AnyScope, "secret-tool"},
}

var cloudForms = []form{
	{"anonymous|policy set public|download|upload|readwrite|readonly", TrustDown, AnyScope, "cloud-rights"}, // a bucket of mc's, for everybody
	{"ilm rule|rules rm|remove --all", CloudDestroy, One, "cloud-delete"},
	{"compute droplet-action power-off|power-cycle|rebuild|restore|reboot|shutdown|password-reset", CloudDestroy, One, "cloud-stop"},
	{"compute droplet|volume|snapshot|image d|del|rm", CloudDestroy, One, "cloud-delete"},
	{"server rebuild|reset|poweroff|reset-password", CloudDestroy, One, "cloud-stop"},
	{"resource service-*-delete|group-delete|reclamation-delete", CloudDestroy, One, "cloud-delete"},
	{"unbind-service|unmap-route|stop|unshare-service", CloudDestroy, One, "cloud-stop"},
	{"admin user|policy|group|bucket|service remove|rm|detach|stop", CloudDestroy, One, "cloud-delete"},
	{"delete-file-version|hide-file", CloudDestroy, One, "cloud-delete"},
	{"bucket|file-version|file|key delete|rm", CloudDestroy, One, "cloud-delete"},
	{"linodes shutdown|reboot|rebuild|rescue", CloudDestroy, One, "cloud-stop"},
	{"clusters permanent-delete", CloudDestroy, One, "cloud-delete"},
	{"app stop", CloudDestroy, One, "cloud-stop"},
}

var cloudFileForms = []form{
	{"rm|delete|remove -r|--recursive|-rf", CloudDestroy, Mass, "cloud-delete"},
	{"delete --all|-a", CloudDestroy, Mass, "cloud-delete"},
	{"rm|delete|remove|rb", CloudDestroy, One, "cloud-delete"},
	{"package-registry publish", Publish, AnyScope, "package-publish"}, // the language's swift
}

var rcloneForms = []form{
	{"-n|--dry-run", NoEffect, 0, ""},
	{"sync|bisync|move|moveto", CloudDestroy, One, "cloud-sync-delete"},
	{"delete|purge|deletefile|rmdirs|rmdir|cleanup", CloudDestroy, One, "cloud-delete"},
	{"dedupe", CloudDestroy, One, "cloud-sync-delete"},
	{"config dump|show|userinfo", SecretRead, AnyScope, "secret-tool"},
	{"serve --addr=:*,0.0.0.0*,*::*", Listen, AnyScope, "listen"},
	{"rcd --rc-addr=:*,0.0.0.0*,*::*", Listen, AnyScope, "listen"},
}

var dataToolForms = []form{
	{"gc --dry|--dry-run", NoEffect, 0, ""},
	{"gc", CloudDestroy, One, "cloud-delete"},
	{"artifact|runs|experiments|models delete", CloudDestroy, One, "cloud-delete"},
	{"experiments|runs delete", CloudDestroy, One, "cloud-delete"},
}

var s3cmdForms = []form{
	{"-n|--dry-run", NoEffect, 0, ""},
	{"setacl|setpolicy|delpolicy|setlifecycle", TrustDown, AnyScope, "cloud-rights"},
}

// These name their calls as the API does: DeleteInstance.
var apiForms = []form{
	{"* delete*|terminate*|release*|remove*|destroy*", CloudDestroy, One, "cloud-delete"},
	{"* *-delete|*-delete-*|*-terminate", CloudDestroy, One, "cloud-delete"},
	{"* stop*|reboot*|reinstall*|reset*", CloudDestroy, One, "cloud-stop"},
}

var flyForms = []form{
	{"secrets unset|remove|rm", CloudDestroy, One, "cloud-delete"},
	{"scale count 0|*=0", CloudDestroy, One, "cloud-stop"},
	{"postgres|pg failover", CloudDestroy, One, "cloud-stop"},
	{"ips release", CloudDestroy, One, "cloud-delete"},
	{"tokens revoke", CloudDestroy, One, "cloud-delete"},
	{"postgres|pg|mpg|redis|consul detach", CloudDestroy, One, "cloud-delete"},
	{"apps|suspend suspend", CloudDestroy, One, "cloud-stop"},
	{"suspend", CloudDestroy, One, "cloud-stop"},
	{"dp|destroy-pipeline|destroy-team|dt|delete-target", CloudDestroy, One, "cloud-delete"}, // Concourse's fly
}

var herokuForms = []form{
	{"config:unset|config:remove|ci:config:unset|addons:detach", CloudDestroy, One, "cloud-delete"},
	{"ps:scale|scale +*=0|*=0:*", CloudDestroy, One, "cloud-stop"},
	{"ps:stop|stop|ps:kill|kill|maintenance:on|pg:killall|pg:kill", CloudDestroy, One, "cloud-stop"},
	{"pg:credentials:rotate|pg:promote", Apply, AnyScope, "cloud-change"},
	{"domains:clear|keys:clear", CloudDestroy, One, "cloud-delete"},
	{"releases:rollback|rollback", Apply, AnyScope, "cloud-change"},
	{"pg:backups:restore|pg:copy|pg:push", DatabaseDestroy, One, "database-restore"},
	{"apps:transfer|apps:leave|sharing:transfer|access:update", CloudDestroy, One, "cloud-rights"},
}

var vercelForms = []form{{"rollback", Apply, AnyScope, "cloud-change"}}

var netlifyForms = []form{
	{"api delete*|remove*|cancel*|uninstall*", CloudDestroy, One, "cloud-delete"},
	{"env:unset", CloudDestroy, One, "cloud-delete"},
}

var wranglerForms = []form{
	{"docs", NoEffect, 0, ""},
	{"d1 time-travel restore", DatabaseDestroy, One, "database-restore"},
	{"rollback", Apply, AnyScope, "cloud-change"},
}

var supabaseForms = []form{
	{"secrets unset", CloudDestroy, One, "cloud-delete"},
	{"stop --no-backup", DatabaseDestroy, One, "database-drop"},
	{"branches disable", CloudDestroy, One, "cloud-delete"},
	{"migration down", DatabaseDestroy, One, "database-drop"},
}

var firebaseForms = []form{
	{"database:set|database:import|auth:import", DatabaseDestroy, One, "database-restore"},
	{"hosting:disable|remoteconfig:rollback|functions:config:unset|functions:secrets:prune", CloudDestroy, One, "cloud-delete"},
	{"firestore:bulkdelete", DatabaseDestroy, One, "database-delete"},
	{"functions:secrets:access", SecretRead, AnyScope, "secret-tool"},
	{"deploy -f|--force", CloudDestroy, One, "cloud-delete"}, // takes functions away that the source lacks
	{"apps:android:sha:delete|appdistribution:testers:remove", CloudDestroy, One, "cloud-delete"},
}

var railwayForms = []form{
	{"variables|variable --remove|delete", CloudDestroy, One, "cloud-delete"},
	{"variables|variable|vars !--set|--set-from-stdin|--help", SecretRead, AnyScope, "secret-tool"},
}

var hostForms = []form{
	{"list|retrieve|get|logs --live", NoEffect, 0, ""},
	{"post|delete|* create|update|confirm|capture|cancel|delete|/v1/* --live", Apply, AnyScope, "cloud-change"}, // stripe works with test data otherwise
	{"config --list", SecretRead, AnyScope, "secret-tool"},
	{"env clear", CloudDestroy, One, "cloud-delete"},
	{"groovy|groovysh", Opaque, Unknown, "unknown-script"},
	{"update --branch|--channel|--auto", Publish, AnyScope, "package-publish"}, // to the people who have the app
	{"purge !--all", NoEffect, 0, ""},                                          // fastly: one key of the cache
	{"indices|synonyms|rules clear", CloudDestroy, One, "cloud-delete"},
	{"subscriptions|payment_intents|subscription_schedules cancel", CloudDestroy, One, "cloud-delete"},
	{"flags archive|toggle-off", CloudDestroy, One, "cloud-stop"},
	{"safe-shutdown|safe-restart|shutdown|restart|offline-node", Service, AnyScope, "service-stop"}, // Jenkins
	{"env unset", CloudDestroy, One, "cloud-delete"},
	{"cache --delete", CloudDestroy, One, "cloud-delete"},
	{"payouts|transfers|topups|charges create", Apply, AnyScope, "cloud-change"},
	{"refunds create", Apply, AnyScope, "cloud-change"},
	{"delete-*", CloudDestroy, One, "cloud-delete"},
	{"pipeline|annotation delete|remove|archive", CloudDestroy, One, "cloud-delete"},
	{"repo disable|rm", CloudDestroy, One, "cloud-delete"},
	{"deploy-request deploy|skip-revert|revert", Apply, AnyScope, "cloud-change"},
	{"branches|branch restore|reset", DatabaseDestroy, One, "database-restore"},
	{"import --replace|--replace-all", DatabaseDestroy, One, "database-restore"},
	{"submit", Publish, AnyScope, "package-publish"},
	{"-p|--publish=always,onTag,onTagOrDraft", Publish, AnyScope, "package-publish"},
}

var wordpressForms = []form{
	{"cache|rewrite|transient", NoEffect, 0, ""}, // made again
	{"site empty", DatabaseDestroy, Mass, "database-drop"},
}

var drushForms = []form{
	{"sqlq|sql-query|sql:query", NoEffect, 0, ""}, // told by its statements
	{"sql-drop|sql:drop|site-install|site:install|si", DatabaseDestroy, Mass, "database-drop"},
	{"@* sql-drop|sql:drop|site-install|site:install|si", DatabaseDestroy, Mass, "database-drop"},
	{"pmu|pm:uninstall|entity:delete|user:cancel", DatabaseDestroy, One, "database-delete"},
}

var dnsForms = []form{
	{"tunnel|t delete|cleanup", CloudDestroy, One, "cloud-delete"},
	{"push|create-domains", Apply, AnyScope, "dns-change"},
	{"delete-zone|delete-rrset|delete-tsig-key|replace-rrset|clear-zone|delzone|zone-purge|zone-unset|stop|halt", CloudDestroy, One, "dns-change"},
}

var octodnsForms = []form{{"--doit", Apply, AnyScope, "dns-change"}}

var certbotForms = []form{{"delete|revoke|unregister !--dry-run", CloudDestroy, One, "cloud-delete"}}

var postfixForms = []form{{"-d", Service, AnyScope, "mail-delete"}}

var mailForms = []form{
	{"-Mrm|-Mg", Service, AnyScope, "mail-delete"},
	{"expunge", Service, AnyScope, "mail-delete"},
	{"mailbox delete", Service, AnyScope, "mail-delete"},
}

var gatewayForms = []form{
	{"gateway sync|reset|apply", Apply, AnyScope, "cloud-change"},
	{"sync|reset", Apply, AnyScope, "cloud-change"},
	{"delete", CloudDestroy, One, "cloud-delete"},
	{"apis|products|developers|apps|flag|segment|rule delete", CloudDestroy, One, "cloud-delete"},
}

var vaultForms = []form{
	{"item|vault|document|user|group|secrets|projects|configs|environments|folder delete|rm|remove", CloudDestroy, One, "key-delete"},
	{"secrets folders delete", CloudDestroy, One, "key-delete"},
	{"rm|delete|remove|del|delete-item|rmdir", CloudDestroy, One, "key-delete"},
}

var workflowForms = []form{
	{"workflow|schedule|activity terminate|delete|cancel|reset", CloudDestroy, One, "cloud-delete"},
	{"operator namespace|search-attribute|nexus delete|remove", CloudDestroy, Mass, "cloud-delete"},
	{"db reset|clean|downgrade", DatabaseDestroy, Mass, "database-drop"},
	{"tasks clear -y|--yes", DatabaseDestroy, One, "database-delete"},
	{"dags|connections|pools|variables|roles|users delete", CloudDestroy, One, "cloud-delete"},
	{"deployment|work-pool|block|flow-run|work-queue delete", CloudDestroy, One, "cloud-delete"},
	{"run|asset wipe|delete", CloudDestroy, One, "cloud-delete"},
}

var queueForms = []form{
	{"purge", DatabaseDestroy, One, "database-delete"},
	{"control shutdown", Service, AnyScope, "service-stop"},
	{"amqp queue.purge|queue.delete|exchange.delete", DatabaseDestroy, One, "database-delete"},
	{"empty", DatabaseDestroy, One, "database-delete"},
}

var searchForms = []form{
	{"delete", DatabaseDestroy, One, "database-delete"},
	{"database load|restore --overwrite-destination", DatabaseDestroy, One, "database-restore"},
	{"--deletebyquery|--deleteByQuery", DatabaseDestroy, One, "database-delete"},
	{"--javascript.execute-string=*_dropdatabase*,*.drop(*,*truncate(*", DatabaseDestroy, One, "database-delete"},
}

var keeperForms = []form{
	{"deleteall|rmr|delete", DatabaseDestroy, One, "database-delete"},
	{"* deleteall|rmr", DatabaseDestroy, One, "database-delete"},
	{"-c=rm,rmr,delete,deleter", DatabaseDestroy, One, "database-delete"},
}

var natsForms = []form{
	{"pub|publish|request|req|reply|sub", NoEffect, 0, ""},
	{"stream|str|s rmm|seal", DatabaseDestroy, One, "database-delete"},
}

var pulsarForms = []form{
	{"namespaces clear-backlog*", DatabaseDestroy, One, "database-delete"},
	{"topics|persistent skip-all|clear-backlog|truncate|terminate", DatabaseDestroy, One, "database-delete"},
}

var rabbitForms = []form{
	{"publish", NoEffect, 0, ""},
	{"clear_*|forget_cluster_node|close_all_*|shutdown|change_password|set_user_tags", DatabaseDestroy, One, "database-config"},
	{"delete_*|purge_*|reset|force_reset|stop|stop_app|force_boot", DatabaseDestroy, One, "database-delete"},
}

var etcdForms = []form{
	{"auth disable", TrustDown, AnyScope, "database-rights"},
	{"lease revoke", DatabaseDestroy, One, "database-delete"},
	{"user|role|member delete|remove|revoke-role|revoke-permission", DatabaseDestroy, One, "database-delete"},
}

var consulForms = []form{
	{"force-leave|leave", CloudDestroy, One, "cloud-stop"},
	{"snapshot restore", DatabaseDestroy, One, "database-restore"},
	{"maint -enable|--enable", CloudDestroy, One, "cloud-stop"},
}

var hashiVaultForms = []form{
	{"operator generate-root|rekey|seal|step-down", TrustDown, System, "cloud-rights"},
	{"token|lease revoke", CloudDestroy, One, "cloud-delete"},
	{"audit disable", TrustDown, System, "guard-off"},
	{"secrets|auth disable|move", CloudDestroy, One, "cloud-delete"},
}

var nomadForms = []form{
	{"node drain|eligibility -enable|--enable|-disable|--disable", CloudDestroy, One, "cluster-drain"},
	{"server force-leave", CloudDestroy, One, "cloud-stop"},
	{"job revert", Apply, AnyScope, "cluster-apply"},
}

var cassandraForms = []form{{"drain|stopdaemon|truncatehints|invalidate*", Service, AnyScope, "service-stop"}}

var kafkaForms = []form{
	{"--alter --delete-config", DatabaseDestroy, One, "database-config"},
	{"--alter --add-config=*retention.*,*cleanup.policy*", DatabaseDestroy, One, "database-config"},
	{"--remove", TrustDown, AnyScope, "database-rights"},
	{"format", DatabaseDestroy, Mass, "database-drop"},
	{"--application-id !--dry-run", DatabaseDestroy, One, "database-delete"},
	{"--delete-offsets", DatabaseDestroy, One, "database-delete"},
	{"--election-type=unclean", DatabaseDestroy, One, "database-config"},
}

var kafkaToolForms = []form{
	{"topic|group|acl|consumer-group|user|context trim-prefix|delete|purge", DatabaseDestroy, One, "database-delete"},
	{"delete", DatabaseDestroy, One, "database-delete"},
}

var databaseForms = []form{
	{"drop", DatabaseDestroy, Mass, "database-drop"},
	{"shutdown", Service, AnyScope, "service-stop"},
}

var dropForms = []form{{"", DatabaseDestroy, One, "database-drop"}}

var pgRestoreForms = []form{
	{"-l.|--list", NoEffect, 0, ""},
	{"-c.|--cl~ean", DatabaseDestroy, One, "database-restore"},
}

var mongoRestoreForms = []form{{"--drop", DatabaseDestroy, One, "database-restore"}}

var postgresForms = []form{
	{"stop|kill", Service, AnyScope, "service-stop"},
	{"* * stop", Service, AnyScope, "service-stop"},
}

var clusterDropForms = []form{{"!-n|--dry-run", DatabaseDestroy, Mass, "database-drop"}}

var migrationForms = []form{
	{"--sql|--dump|--dump-sql|--append|--pretend", NoEffect, 0, ""},
	{"downgrade base", DatabaseDestroy, One, "database-drop"},
	{"db downgrade base", DatabaseDestroy, One, "database-drop"},
	{"downgrade --delete|-d", DatabaseDestroy, One, "database-drop"},
	{"migrate:rollback --all", DatabaseDestroy, One, "database-drop"},
	{"migrate:rollback all|true", DatabaseDestroy, One, "database-drop"},
	{"db:seed:undo:all|db:migrate:undo:all|db:drop", DatabaseDestroy, One, "database-drop"},
	{"schema:drop|schema:fresh|migration:fresh|database:drop", DatabaseDestroy, One, "database-drop"},
	{"push -f|--force", DatabaseDestroy, One, "database-drop"},
	{"database drop", DatabaseDestroy, One, "database-drop"},
	{"database update 0", DatabaseDestroy, One, "database-drop"},
	{"ef database update 0", DatabaseDestroy, One, "database-drop"},
}

var railsForms = []form{
	{"db:drop*|db:reset*|db:purge*|db:schema:load*|db:migrate:reset*|db:truncate_all*|db:seed:replant|db:mongoid:drop|db:mongoid:purge*|db:structure:load*", DatabaseDestroy, One, "database-drop"},
	{"db:migrate*|db:migrate:down +version=0", DatabaseDestroy, One, "database-drop"},
	{"runner|r *truncate*|*drop_table*", DatabaseDestroy, One, "database-delete"},
}

var djangoForms = []form{
	{"flush|reset_db|reset_schema|drop_test_database", DatabaseDestroy, Mass, "database-drop"},
	{"migrate * zero", DatabaseDestroy, One, "database-drop"},
	{"shell|shell_plus -c|--command=*all().delete(*,*truncate*,*drop table*,*all()._raw_delete*", DatabaseDestroy, One, "database-delete"},
}

var flywayForms = []form{
	{"clean", DatabaseDestroy, One, "database-drop"},
	{"drop-all|dropall", DatabaseDestroy, One, "database-drop"},
	{"rollback*-sql", NoEffect, 0, ""},
	{"rollback|rollback-count|rollback-to-date|rollback-one-*", DatabaseDestroy, One, "database-migrate-down"},
}

var artisanForms = []form{
	{"--pretend", NoEffect, 0, ""},
	{"migrate:fresh~|migrate:refresh~|migrate:reset~|db:wipe~|queue:flush~|queue:clear~", DatabaseDestroy, One, "database-drop"},
	{"schema:dump --prune", DatabaseDestroy, One, "database-migrate-down"},
	{"tinker --execute=*truncate(*,*::query()->delete()*,*::all()->*delete*,*dropalltables*,*drop table*", DatabaseDestroy, One, "database-delete"},
	{"doctrine:fixtures:load --append", NoEffect, 0, ""},
	{"--dump-sql", NoEffect, 0, ""},
	{"doctrine:database:drop~|doctrine:schema:drop~ -f|--force", DatabaseDestroy, One, "database-drop"},
	{"doctrine:schema:update~ -f|--force", DatabaseDestroy, One, "database-restore"},
	{"doctrine:fixtures:load~ !--append", DatabaseDestroy, One, "database-drop"},
	{"doctrine:migrations:migrate~ first|0", DatabaseDestroy, One, "database-drop"},
	{"dbal:run-sql~|doctrine:query:sql~ *drop*|*truncate*|*delete from*", DatabaseDestroy, One, "database-delete"},
}

var mixForms = []form{
	{"ecto.drop|ecto.reset|ash.reset|ash.tear_down|ash_postgres.drop", DatabaseDestroy, One, "database-drop"},
	{"do +ecto.drop*|ecto.reset*", DatabaseDestroy, One, "database-drop"},
	{"ecto.rollback --all", DatabaseDestroy, One, "database-drop"},
	{"ecto.rollback --to|-n=0,1000", DatabaseDestroy, One, "database-drop"},
	{"ecto.load -f|--force", DatabaseDestroy, One, "database-restore"},
	{"hex.retire", Publish, Mass, "package-unpublish"},
}

var migrateForms = []form{
	{"drop|fresh|refresh|reset", DatabaseDestroy, One, "database-drop"},
	{"migrate fresh|refresh|reset", DatabaseDestroy, One, "database-drop"},
	{"down -all|--all", DatabaseDestroy, One, "database-drop"},
	{"rollback -t|--target=0", DatabaseDestroy, One, "database-drop"},
	{"migrations rollback -t|--target=0", DatabaseDestroy, One, "database-drop"},
	{"metadata clear", DatabaseDestroy, One, "database-drop"},
	{"revert|rebase", DatabaseDestroy, One, "database-migrate-down"},
	{"schema clean", DatabaseDestroy, One, "database-drop"},
	{"schema apply --auto-approve", DatabaseDestroy, One, "database-restore"},
	{"migrate down", DatabaseDestroy, One, "database-migrate-down"},
	{"migrate -d|--destination=0", DatabaseDestroy, One, "database-drop"},
	{"migrate:rollback --all", DatabaseDestroy, One, "database-drop"},
	{"database drop|reset", DatabaseDestroy, One, "database-drop"},
	{"sqlx database drop|reset", DatabaseDestroy, One, "database-drop"},
}

// goose names a driver and a connection before the verb.
var gooseForms = []form{
	{"reset", DatabaseDestroy, One, "database-drop"},
	{"* * reset", DatabaseDestroy, One, "database-drop"},
	{"down-to 0", DatabaseDestroy, One, "database-drop"},
	{"* * down-to 0", DatabaseDestroy, One, "database-drop"},
}

// migrate down takes all back where no number stands behind it.
var golangMigrateForms = []form{
	{"drop", DatabaseDestroy, One, "database-drop"},
	{"down -all|--all", DatabaseDestroy, One, "database-drop"},
	{"down 1*|2*|3*|4*|5*|6*|7*|8*|9*", NoEffect, 0, ""},
	{"down", DatabaseDestroy, One, "database-drop"},
}

var packageForms = []form{
	{"-n|--dry-run", NoEffect, 0, ""},
	{"*nightly|*stable|*beta|*1.* publish", Publish, AnyScope, "package-publish"},
	{"owner -a|--add|-r|--remove", Publish, Mass, "package-unpublish"},
	{"release -x|--execute", Publish, AnyScope, "package-publish"},
	{"workspaces|ws publish", Publish, AnyScope, "package-publish"},
	{"sqlx database drop|reset", DatabaseDestroy, One, "database-drop"},
	{"run --bin|-p=*migrat* fresh|refresh|reset", DatabaseDestroy, One, "database-drop"},
}

var dotnetForms = []form{
	{"tool install|update|uninstall -g|--global", GlobalInstall, AnyScope, "global-install"},
	{"ef database update 0", DatabaseDestroy, One, "database-drop"},
	{"nuget delete", Publish, Mass, "package-unpublish"},
}

var npmForms = []form{
	{"install|i|add|ci|update|in --registry=http:* !--registry=http://localhost*,http://127.*", TrustDown, AnyScope, "registry-change"},
	{"token revoke|delete|create", Publish, Mass, "package-unpublish"},
	{"org rm|set|add", Publish, Mass, "package-unpublish"},
	{"hook rm|add|update", Publish, Mass, "package-unpublish"},
	{"env remove|rm -g|--global", GlobalInstall, One, "tool-remove"},
	{"profile disable-2fa|set|enable-2fa", TrustDown, AnyScope, "sign-out"},
	{"in|ins|inst|insta|instal|isntall|un|unlink|r|remove|link|ln|ci -g|--global", GlobalInstall, AnyScope, "global-install"},
	{"publish", Publish, AnyScope, "package-publish"},
}

var pipForms = []form{
	{"config set *trusted-host *", TrustDown, AnyScope, "registry-change"},
	{"config set *index-url http:*", TrustDown, AnyScope, "registry-change"},
}

var yarnForms = []form{
	{"application|app -kill|-movetoqueue", Service, AnyScope, "service-stop"}, // Hadoop's
	{"config set registry|npmRegistryServer http:*", TrustDown, AnyScope, "registry-change"},
	{"config set strict-ssl|enablestrictssl false", TrustDown, AnyScope, "tls-off"},
	{"add|install --registry=http:* !--registry=http://localhost*,http://127.*", TrustDown, AnyScope, "registry-change"},
}

var gemForms = []form{
	{"owner !-a|--add|-r|--remove", NoEffect, 0, ""},
	{"sources|source -a|--add=http:*", TrustDown, AnyScope, "registry-change"},
}

var pubForms = []form{
	{"pub publish -n|--dry-run", NoEffect, 0, ""},
}

var gradleForms = []form{
	{"-m|--dry-run", NoEffect, 0, ""},
	{"+flywayclean|*:flywayclean|dropall|*:dropall", DatabaseDestroy, One, "database-drop"},
	{"+*publishall*|*closeandrelease*|*:publishall*|jib|*:jib|*releasestagingrepository", Publish, AnyScope, "package-publish"},
}

var mavenForms = []form{
	{"+flyway:clean|liquibase:dropall", DatabaseDestroy, One, "database-drop"},
	{"+deploy|release:perform|jib:build|deploy:deploy|*:deploy-file", Publish, AnyScope, "package-publish"},
}

var scalaForms = []form{
	{"+publish|publishsigned|sonatyperelease", Publish, AnyScope, "package-publish"},
	{"publish|publishsigned|+publish|+publishsigned|ci-release|*/publish|sonatypebundlerelease|release", Publish, AnyScope, "package-publish"},
}

var leinForms = []form{{"deploy|release", Publish, AnyScope, "package-publish"}}

var uploadForms = []form{
	{"push|upload|release|publish|deploy", Publish, AnyScope, "package-publish"},
	{"delete|yank|unlist", Publish, Mass, "package-unpublish"},
	{"trunk push", Publish, AnyScope, "package-publish"},
	{"trunk delete|deprecate|add-owner|remove-owner", Publish, Mass, "package-unpublish"},
	{"collection|role publish|import", Publish, AnyScope, "package-publish"},
	{"role delete", Publish, Mass, "package-unpublish"},
	{"repo|repos|repo-files|tag delete|delete-files", RepoDestroy, One, "repo-delete"},
	{"release publish", Publish, AnyScope, "package-publish"},
}

var conanForms = []form{
	{"upload", Publish, AnyScope, "package-publish"},
	{"remove -r|--remote", Publish, Mass, "package-unpublish"},
}

var condaForms = []form{
	{"env remove", GlobalInstall, One, "system-package-remove"},
	{"remove|uninstall --all", GlobalInstall, One, "system-package-remove"},
	{"upload", Publish, AnyScope, "package-publish"},
}

var nxForms = []form{
	{"release version|changelog|plan", NoEffect, 0, ""},
	{"release", Publish, AnyScope, "package-publish"},
}

var rushForms = []form{{"publish -p|--publish", Publish, AnyScope, "package-publish"}}

var releaseForms = []form{
	{"-d|--dry-run|--preview|--release-version|--changelog|--help", NoEffect, 0, ""},
	{"", Publish, AnyScope, "package-publish"},
}

var composerForms = []form{
	{"global require|remove|update|install", GlobalInstall, AnyScope, "global-install"},
	{"config +http:*", TrustDown, AnyScope, "registry-change"},
	{"config secure-http|disable-tls false|true", TrustDown, AnyScope, "registry-change"},
}

var maturinForms = []form{{"upload|publish", Publish, AnyScope, "package-publish"}}

var setupForms = []form{
	{"setup.py|*/setup.py +upload|upload_docs|register", Publish, AnyScope, "package-publish"},
}

// Backups are what the other mistakes are mended with.
var backupForms = []form{
	{"-n|--dry-run", NoEffect, 0, ""},
	{"forget|prune|delete|expire|stanza-delete|rm|compact|break-lock", Disk, AnyScope, "backup-delete"},
	{"key|snapshot|policy|archive|repo|backup remove|delete|rm|forget", Disk, AnyScope, "backup-delete"},
	{"unlock --remove-all", Disk, AnyScope, "backup-delete"},
	{"rewrite|repair --forget", Disk, AnyScope, "backup-delete"},
	{"cleanup|remove-older-than|remove-all-but-n-full|remove-all-inc-of-but-n-full --force", Disk, AnyScope, "backup-delete"},
	{"maintenance run --safety=none", Disk, AnyScope, "backup-delete"},
	{"--remove-older-than", Disk, AnyScope, "backup-delete"},
	{"remove increments", Disk, AnyScope, "backup-delete"},
	{"undochange|rollback|prune-older", Disk, AnyScope, "backup-delete"},
	{"-d|--nuke -f|--nuke !-c", Disk, AnyScope, "backup-delete"}, // tarsnap
	{"restore --target=/", Overwrite, System, "unpack-over-system"},
}

var timeshiftForms = []form{{"--delete|--delete-all|--restore", Disk, AnyScope, "backup-delete"}}

var borgForms = []form{
	{"-n|--dry-run", NoEffect, 0, ""},
	{"delete|prune|compact|break-lock|recreate", Disk, AnyScope, "backup-delete"},
}

// Ciphers and sizes may stand before the action.
var cryptForms = []form{
	{"luksformat|lukserase|erase|reencrypt|lukskillslot|luksremovekey|luksconvertkey|luksheaderrestore|format", Disk, AnyScope, "disk-format"},
}

var zfsForms = []form{
	{"destroy -n", NoEffect, 0, ""},
	{"unmount|umount -a", Service, AnyScope, "unmount"},
	{"receive|recv -F", Disk, AnyScope, "volume-remove"},
}

var zpoolForms = []form{
	{"create|destroy|remove|add|split|attach -n", NoEffect, 0, ""},
	{"create|remove|add|split|export", Disk, AnyScope, "volume-remove"},
}

var btrfsForms = []form{
	{"subvolume~|device~|qgroup~|property~ delete~|remove~", Disk, AnyScope, "volume-remove"},
	{"filesystem~ resize~", Disk, AnyScope, "volume-remove"},
	{"check --repair|--init-csum-tree|--init-extent-tree", Disk, AnyScope, "disk-write"},
	{"rescue~ zero-log~|fix-device-size|clear-*|super-recover", Disk, AnyScope, "disk-write"},
	{"replace~ start", Disk, AnyScope, "volume-remove"},
}

var newVolumeForms = []form{
	{"-t|--test", NoEffect, 0, ""},
	{"/dev/*", Disk, AnyScope, "disk-format"},
	{"* /dev/*", Disk, AnyScope, "disk-format"},
}

var mdadmForms = []form{
	{"/dev/* -f|-r|--re~move|--fa~il|--set-faulty", Disk, AnyScope, "volume-remove"},
	{"--zer~o-superblock|--st~op|--cr~eate", Disk, AnyScope, "volume-remove"},
}

// Repair and resizing of what lies on a device.
var diskToolForms = []form{
	{"-n|-l|-P|-i|--no-action|--info", NoEffect, 0, ""},
	{"/dev/*", Disk, AnyScope, "disk-write"},
}

var repairForms = []form{
	{"-n|-N|-P|-l|--no-action|--info|-h", NoEffect, 0, ""},
	{"/dev/* -y|-a|-p|-L|-O|-U|-f|-s|--size|-w", Disk, AnyScope, "disk-write"},
	{"-w", Disk, AnyScope, "disk-write"},
	{"/dev/* *g|*m|*k|*t|*s|0*|1*|2*|3*|4*|5*|6*|7*|8*|9*", Disk, AnyScope, "disk-write"},
}

var cephForms = []form{
	{"osd purge|purge-actual|destroy|rm|out|lost|down|crush", Disk, AnyScope, "volume-remove"},
	{"osd pool rm|delete", Disk, AnyScope, "volume-remove"},
	{"fs|mds|mon rm|remove|fail|rmfailed", Disk, AnyScope, "volume-remove"},
	{"rm|remove|purge|rmpool|trash|cppool", Disk, AnyScope, "volume-remove"},
	{"snap|namespace|group rm|remove|purge|rollback", Disk, AnyScope, "volume-remove"},
	{"volume|snapshot delete|remove-brick|reset|stop", Disk, AnyScope, "volume-remove"},
	{"wipe-md|create-md|invalidate|down", Disk, AnyScope, "volume-remove"},
}

var wiperForms = []form{
	{"/dev/*", Disk, AnyScope, "disk-write"},
	{"--autonuke", Disk, AnyScope, "disk-write"},
}

// What the partition tools only show or save.
var partitionForms = []form{
	{"-p|-i|-v|-b|-L|-V|-O|--print|--info|--verify|--backup|--list-types|--pretend !-d|-n|-o|-Z|-z|-t|-c|-l|-g|-G|-N|--delete|--new|--clear|--zap|--zap-all|--typecode|--load-backup|--mbrtogpt", NoEffect, 0, ""},
}

var sfdiskForms = []form{
	{"-d|-l|-J|-V|-F|-s|--dump|--list|--json|--verify|--list-free|--show-size|--show-geometry !--delete|--wipe|--append|-X", NoEffect, 0, ""},
}

var fdiskForms = []form{{"-l|-x|-s|--list|--list-details|--getsz", NoEffect, 0, ""}}

var partedForms = []form{
	{"-l|--list", NoEffect, 0, ""},
	{"/dev/* print", NoEffect, 0, ""},
	{"/dev/* unit * print", NoEffect, 0, ""},
}

var serviceForms = []form{
	{"start|restart poweroff.target|reboot.target|halt.target|rescue.target|emergency.target|suspend.target|hibernate.target|kexec.target|shutdown.target|exit.target", Power, AnyScope, "power"},
	{"stop|disable|mask|kill|revert|set-default|clean|freeze", Service, AnyScope, "service-stop"},
	{"reenable|enable|preset|link", Persistence, AnyScope, "service-unit"},
}

var daemonForms = []form{
	{"stop|down|force-stop|graceful-stop|exit|unmonitor|disable|shutdown|force-shutdown|kill|d|x", Service, AnyScope, "service-stop"},
	{"-s|-k|-S=stop,quit,graceful-stop,shutdown,interrupt,kill", Service, AnyScope, "service-stop"},
}

var s6Forms = []form{{"-d|-x|-k", Service, AnyScope, "service-stop"}}

var webServerForms = []form{
	{"-s|-k=stop,quit,graceful-stop,shutdown,interrupt,kill", Service, AnyScope, "service-stop"},
	{"stop|graceful-stop", Service, AnyScope, "service-stop"},
}

var pm2Forms = []form{
	{"kill", Service, AnyScope, "service-stop"},
	{"delete|del|stop all", Service, AnyScope, "service-stop"},
	{"startup|unstartup", Persistence, AnyScope, "service-unit"},
}

var umountForms = []form{{"-f|-l|--la~zy|--fo~rce", Service, AnyScope, "unmount"}}

var brewForms = []form{
	{"-n|--dry-run", NoEffect, 0, ""},
	{"bundle cleanup -f|--force", GlobalInstall, One, "system-package-remove"},
	{"services stop|kill", Service, AnyScope, "service-stop"},
	{"untap", GlobalInstall, One, "system-package-remove"},
}

var loginForms = []form{
	{"enable-linger", Persistence, AnyScope, "service-unit"},
	{"+poweroff|reboot|halt|suspend|hibernate|hybridsleep|*.poweroff|*.reboot|*.halt|*.suspend|*.hibernate|*.hybridsleep|scheduleshutdown|*.scheduleshutdown", Power, AnyScope, "power"},
}

var busForms = []form{
	{"call|* +poweroff|reboot|halt|suspend|hibernate|hybridsleep|scheduleshutdown|*.poweroff|*.reboot|*.halt|*.suspend|*.hibernate|*.hybridsleep|*.scheduleshutdown", Power, AnyScope, "power"},
	{"-m|--method=*.poweroff,*.reboot,*.halt,*.suspend,*.hibernate", Power, AnyScope, "power"},
}

// The way out of this machine, for whoever works on it from afar.
var ipForms = []form{
	{"route~ replace|change +default", Service, AnyScope, "network-change"},
	{"link~ set +down", Service, AnyScope, "network-change"},
	{"link~|address~|route~|rule~|neighbour~|netns~|tunnel~ delete~|flush~", Service, AnyScope, "network-change"},
}

var ifconfigForms = []form{{"* down|delete|-alias", Service, AnyScope, "network-change"}}

var nmcliForms = []form{
	{"connection~|device~ delete~|down|disconnect~|modify~", Service, AnyScope, "network-change"},
	{"networking~ off", Service, AnyScope, "network-change"},
	{"radio~ wifi|wwan|all off", Service, AnyScope, "network-change"},
	{"general~ hostname *", Service, AnyScope, "network-change"},
}

var routeForms = []form{
	{"delete|del|flush", Service, AnyScope, "network-change"},
	{"-f.", Service, AnyScope, "network-change"},
}

var tcForms = []form{{"qdisc|class|filter add|change|replace|del|delete", Service, AnyScope, "network-change"}}

var rfkillForms = []form{{"block", Service, AnyScope, "network-change"}}

var ifdownForms = []form{{"*", Service, AnyScope, "network-change"}}

var networkSetupForms = []form{
	{"-setairportpower|-setnetworkserviceenabled +off", Service, AnyScope, "network-change"},
	{"-removenetworkservice|-setdnsservers|-setwebproxy|-setsecurewebproxy|-setsocksfirewallproxy", Service, AnyScope, "network-change"},
}

var firewallForms = []form{
	{"-t|--test", NoEffect, 0, ""},
	{"", TrustDown, System, "guard-off"},
}

var nftForms = []form{
	{"-c|--check", NoEffect, 0, ""},
	{"-f|--file", TrustDown, System, "guard-off"},
	{"flush|delete|destroy|reset", TrustDown, System, "guard-off"},
}

var banForms = []form{
	{"stop|unban|shutdown|destroy|flush|del|x|f", TrustDown, System, "guard-off"},
	{"set * unbanip|delignoreip|addignoreip", TrustDown, System, "guard-off"},
}

var kernelLogForms = []form{
	{"-C|-c|--cl~ear|--read-clear", Delete, Outside, "delete-outside"},
	{"-d|--debug", NoEffect, 0, ""},
	{"-f|--force", Delete, Outside, "delete-outside"},
}

var systemPackageForms = []form{
	{"profile remove|wipe-history", GlobalInstall, One, "system-package-remove"},
	{"store gc|delete", GlobalInstall, One, "system-package-remove"},
	{"remove|uninstall", GlobalInstall, One, "system-package-remove"},
}

var nixEnvForms = []form{{"-e|--uninstall|--delete-generations", GlobalInstall, One, "system-package-remove"}}

var nixStoreForms = []form{
	{"--print-dead|--print-live|--print-roots", NoEffect, 0, ""},
	{"-d|--delete-old|--delete-older-than|--gc|--delete", GlobalInstall, One, "system-package-remove"},
}

// FreeBSD's; others of that name have no such words.
var pkgForms = []form{
	{"-n|--dry-run", NoEffect, 0, ""},
	{"delete|autoremove|unlock", GlobalInstall, One, "system-package-remove"},
}

var emergeForms = []form{{"-p|--pretend", NoEffect, 0, ""}}

var pacmanForms = []form{
	{"-R|--remove -p|--print", NoEffect, 0, ""},
	{"-Q|--query|-F|--files|-D|--database", NoEffect, 0, ""},
	{"-R|--remove", GlobalInstall, One, "system-package-remove"},
	{"-Yc.|-Ycc.", GlobalInstall, One, "system-package-remove"},
	{"-Scc|-Sccc", GlobalInstall, One, "system-package-remove"},
}

var rpmForms = []form{
	{"-q|--query|-V|--verify|--test|--eval|-E", NoEffect, 0, ""},
	{"http:* -i|-U|-F|--install|--upgrade|--freshen", TrustDown, AnyScope, "unsigned-package"},
	{"--import", TrustDown, AnyScope, "registry-change"},
	{"--nosignature|--nodigest|--nogpgcheck|--no-gpg-checks", TrustDown, AnyScope, "unsigned-package"},
}

var dnfForms = []form{
	{"history undo|rollback|redo", GlobalInstall, One, "system-package-remove"},
	{"swap", GlobalInstall, One, "system-package-remove"},
	{"module reset|remove", GlobalInstall, One, "system-package-remove"},
	{"install|update|upgrade|localinstall --nogpgcheck|--no-gpgchecks", TrustDown, AnyScope, "unsigned-package"},
}

var userForms = []form{
	{"-S|--status", NoEffect, 0, ""},
	{"* list|-list|read|-read|search|-search", NoEffect, 0, ""},
	{"useradd|userdel|usermod|groupadd|groupdel|groupmod|user|group", UserAccount, AnyScope, "user-account"},
	{"leave|join", UserAccount, AnyScope, "user-account"},
}
