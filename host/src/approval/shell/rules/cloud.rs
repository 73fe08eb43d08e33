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
            let word = call.operand(0);
            matches!(word, "destroy" | "apply" | "taint" | "import" | "force-unlock" | "destroy-all" | "run-all")
                || (word == "state" && matches!(call.operand(1), "rm" | "mv" | "push" | "replace-provider"))
                || (word == "workspace" && call.operand(1) == "delete")
        }
        "pulumi" | "cdk" | "sst" | "serverless" | "sls" | "vagrant" | "eksctl" | "kops" | "kind" | "minikube"
        | "k3d" => {
            matches!(call.operand(0), "destroy" | "remove" | "delete" | "cancel")
                || matches!(call.name, "pulumi") && call.operand(0) == "up"
        }
        "aws" | "gcloud" | "az" | "doctl" | "oci" | "hcloud" | "ibmcloud" | "linode-cli" | "gsutil" | "s3cmd"
        | "rclone" | "heroku" | "fly" | "flyctl" | "vercel" | "netlify" | "firebase" | "wrangler" | "mc"
        | "supabase" | "railway" | "azcopy" | "bq" | "vault" | "consul" | "nomad" | "etcdctl" => destroys(call),
        "gh" | "glab" => {
            destroys(call)
                || (call.operand(0) == "api"
                    && call.values("-X", "--method").iter().any(|method| method.text == "DELETE"))
                || call.says(&["--auto"]) && call.operand(1) == "merge"
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
    let words = call.operands().take(4).any(|arg| {
        let word = arg.text.to_lowercase();
        DESTROYS.iter().any(|verb| {
            word == *verb
                || word.strip_prefix(verb).is_some_and(|rest| rest.starts_with(['-', ':']))
                || word.ends_with(&format!(":{verb}"))
        }) || matches!(word.as_str(), "deletefile" | "rmdirs" | "batch-delete-image")
    });
    words || call.says(&["--delete", "--delete-removed"])
}
