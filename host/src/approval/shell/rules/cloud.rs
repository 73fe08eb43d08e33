//! Things in a cloud that are gone when they are deleted.

use super::Call;
use crate::approval::shell::{Category, walk::Walker};

/// Words with which commands of cloud tools destroy.
const DESTROYS: [&str; 14] = [
    "delete",
    "terminate",
    "remove",
    "destroy",
    "purge",
    "deregister",
    "drop",
    "revoke",
    "reset",
    "stop",
    "rm",
    "rb",
    "unpublish",
    "del",
];

pub(super) fn rule(walker: &mut Walker, call: &Call<'_>) -> bool {
    let found = match call.name {
        "terraform" | "tofu" | "terragrunt" => {
            let changes = ["destroy", "apply", "taint", "import", "force-unlock", "destroy-all", "run-all"];
            call.commands_are(&changes)
                || call.commands_then("state", &["rm", "mv", "push", "replace-provider"])
                || call.commands_then("workspace", &["delete"])
                || call.says(&["-destroy", "--destroy"]) && !call.commands_are(&["plan"])
        }
        "pulumi" | "cdk" | "sst" | "serverless" | "sls" | "vagrant" | "eksctl" | "kops" | "kind" | "minikube"
        | "k3d" => {
            call.leading(1).any(|word| matches!(word, "destroy" | "remove" | "delete" | "cancel" | "rm" | "down"))
                || matches!(call.name, "pulumi") && call.commands_are(&["up", "update"])
        }
        "aws" | "gcloud" | "az" | "doctl" | "oci" | "hcloud" | "ibmcloud" | "linode-cli" | "gsutil" | "s3cmd"
        | "rclone" | "heroku" | "fly" | "flyctl" | "vercel" | "netlify" | "firebase" | "wrangler" | "mc"
        | "supabase" | "railway" | "azcopy" | "bq" | "vault" | "consul" | "nomad" | "etcdctl" => destroys(call),
        "gh" | "glab" => {
            destroys(call)
                || (call.commands_are(&["api"])
                    && call.values("-X", "--method").iter().any(|method| method.text == "DELETE"))
                || call.says(&["--auto"]) && call.leading(2).any(|word| word == "merge")
        }
        "ansible-playbook" => !call.says(&["--check", "--syntax-check", "--list-tasks"]),
        _ => return false,
    };
    if found {
        walker.ask(Category::Cloud, call.shown());
    }
    true
}

fn destroys(call: &Call<'_>) -> bool {
    let words = call.leading(3).any(|word| {
        let word = word.to_lowercase();
        DESTROYS.iter().any(|verb| {
            word == *verb
                || word.strip_prefix(verb).is_some_and(|rest| rest.starts_with(['-', ':']))
                || word.ends_with(&format!(":{verb}"))
        }) || matches!(word.as_str(), "deletefile" | "rmdirs" | "batch-delete-image")
    });
    words || call.says(&["--delete", "--delete-removed"])
}
