//! A bucket, with the credentials of this process's environment; without any, as everybody.

use crate::engine::Line;
use crate::objects::address::{Address, Service};
use crate::objects::failure::trouble;
use crate::objects::service::Connector;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{ObjectStore, RetryConfig};
use std::sync::Arc;
use std::time::Duration;
use treemill_transfer::Trouble;

/// Variables of which one says who the user is. Without any of them requests are not signed: asking the services that
/// machines in clouds have for it takes long where there are none.
const AWS: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
];
const GOOGLE: [&str; 5] = [
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_BEARER_TOKEN",
];
const AZURE: [&str; 8] = [
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_TOKEN",
    "AZURE_CLIENT_ID",
    "AZURE_STORAGE_CLIENT_ID",
    "AZURE_FEDERATED_TOKEN_FILE",
];

/// Where S3 is, if it is not Amazon's.
const ENDPOINTS: [&str; 3] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];

/// The bucket of an address, and the line by which its requests go.
pub(crate) fn bucket(address: &Address) -> Result<(Arc<dyn ObjectStore>, Arc<Line>), Trouble> {
    let line = Arc::<Line>::default();
    let connector = Connector {
        server: address.server(),
        line: Arc::clone(&line),
    };
    let store = match address.service {
        Service::S3 => AmazonS3Builder::from_env()
            .with_bucket_name(&address.bucket)
            .with_allow_http(endpoint().is_some_and(|url| url.starts_with("http://")))
            .with_skip_signature(!AWS.iter().any(|name| is_set(name)))
            .with_retry(never())
            .with_http_connector(connector)
            .build()
            .map(|store| Arc::new(store) as Arc<dyn ObjectStore>),
        Service::Google => GoogleCloudStorageBuilder::from_env()
            .with_bucket_name(&address.bucket)
            .with_skip_signature(!GOOGLE.iter().any(|name| is_set(name)))
            .with_retry(never())
            .with_http_connector(connector)
            .build()
            .map(|store| Arc::new(store) as Arc<dyn ObjectStore>),
        Service::Azure => MicrosoftAzureBuilder::from_env()
            .with_container_name(&address.bucket)
            .with_skip_signature(!AZURE.iter().any(|name| is_set(name)))
            .with_retry(never())
            .with_http_connector(connector)
            .build()
            .map(|store| Arc::new(store) as Arc<dyn ObjectStore>),
    };
    let store = store.map_err(|error| trouble(&error))?;
    Ok((store, line))
}

/// The server that has the objects: two servers may have equal buckets and keys.
pub(crate) fn owner(service: Service) -> String {
    match service {
        Service::S3 => endpoint(),
        Service::Google => None,
        Service::Azure => set("AZURE_STORAGE_ACCOUNT_NAME"),
    }
    .unwrap_or_default()
}

fn endpoint() -> Option<String> {
    ENDPOINTS.iter().find_map(|name| set(name))
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_set(name: &str) -> bool {
    set(name).is_some()
}

/// Trying again is treemill-transfer's.
fn never() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        retry_timeout: Duration::ZERO,
        ..RetryConfig::default()
    }
}
