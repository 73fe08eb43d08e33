//! Subcommands behind options that may or may not take a value.

use super::{Category, Category::*, Verdict, check, check_harmless};

#[rustfmt::skip]
const ASK: &[(Category, &str)] = &[
    (Host, "hermes-host --workspace list grant file --write /"),
    (Host, "hermes-host --tools list grant deploy --shell"),
    (Host, "hermes-host --home approvals --config explain run"),
    (Host, "hermes-host --unheard list grant x --shell"),
    (Host, "hermes-host $X list"),
    (Host, "hermes-host --log \"$X\" list"),
    (Host, "hermes-host -q --log=off grant x --shell"),
    (Host, "hermes-host approvals --json forget"),
    (Host, "hermes-host policy set terminal allow"),
    (Host, "hermes-host call terminal '{}'"),
    (Host, "hermes --profile x gateway stop"),
    (Cloud, "helm -n prod uninstall app"),
    (Cloud, "helm --kube-context list delete app"),
    (Cloud, "pulumi -s prod destroy"),
    (Cloud, "pulumi --stack prod stack rm"),
    (Cloud, "minikube -p x delete"),
    (Cloud, "cdk --profile p destroy"),
    (Cloud, "terraform -chdir plan destroy"),
    (Cloud, "terraform -chdir state state rm x"),
    (Cloud, "gh -R a/b pr merge --auto"),
    (Cloud, "gcloud --project x --account y compute instances delete z"),
    (Cloud, "aws --profile p --region r --output json --endpoint-url e s3 rb s3://x"),
    (Cloud, "kubectl -n a -s x --context y --user z --token t --cluster c delete ns x"),
    (Service, "systemctl --host status stop x"),
    (Service, "systemctl --user -t list-units stop x"),
    (Service, "supervisorctl -c x stop all"),
    (Packages, "apt -c list install y"),
    (Packages, "dnf -c list install y"),
    (Packages, "cargo +nightly publish"),
    (Packages, "cargo --config x publish"),
    (Packages, "npm --prefix x --loglevel y --cache z publish"),
    (Container, "docker --context ps rm -f x"),
    (Container, "docker --context volume volume rm x"),
    (Container, "docker compose -f up -p run down"),
    (SystemState, "nft -f list"),
];

#[test]
fn a_value_of_an_option_hides_no_subcommand() {
    check(ASK, Verdict::Ask);
    check(&[(Power, "systemctl -M status reboot"), (Power, "systemctl -q poweroff")], Verdict::Never);
}

#[test]
fn looking_is_still_looking() {
    check_harmless(&[
        "hermes-host list",
        "hermes-host --workspace . list --json",
        "hermes-host --home=/x -q doctor",
        "hermes-host approvals",
        "hermes-host policy check terminal",
        "hermes-host approvals --json explain 'rm -rf /'",
        "helm list -n prod",
        "helm -n prod list",
        "helm upgrade --install app ./chart -n prod",
        "kubectl get pods -n prod",
        "kubectl -n prod logs -f x",
        "terraform plan",
        "terraform -chdir=infra plan -destroy",
        "systemctl --user status x",
        "systemctl status nginx --no-pager",
        "supervisorctl status",
        "apt list --installed",
        "docker compose -f a.yml config",
        "docker compose up -d",
        "docker ps",
        "cargo publish --dry-run",
    ]);
}
