//! kube-rs's watcher and reflector store: informer <dynamic|typed> <scenario> <objects> <events> <url>
//!
//! kube-rs has no indexes: there are two maps by hand, fed by the events that feed the store. Its handlers are whoever
//! takes the events from the stream: both queues are filled where the event arrives, which spares kube-rs the channels
//! that its shared reflector would put in between.
use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::hash::Hash;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::reflector::store::Writer;
use kube::runtime::watcher::{Config as WatchConfig, Event, watcher};
use kube::{Api, Client, Config, Resource};
use serde::de::DeserializeOwned;

const FIRST_VERSION: u64 = 1_000_000_000;

type Failure = Box<dyn std::error::Error>;
type Index = HashMap<String, HashSet<Arc<str>>>;

/// CPU time of all threads so far.
fn cpu_ms() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the structure that it is given; zeroes are a valid one where it should fail.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let at = |time: libc::timeval| time.tv_sec as f64 * 1000.0 + time.tv_usec as f64 / 1000.0;
    at(usage.ru_utime) + at(usage.ru_stime)
}

/// Resident memory, after the allocator has given back what it can.
async fn resident_bytes() -> Result<f64, Failure> {
    for _ in 0..4 {
        // SAFETY: malloc_trim may be called at any time.
        unsafe { libc::malloc_trim(0) };
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: f64 = text
        .split_whitespace()
        .nth(1)
        .ok_or("statm has no second field")?
        .parse()?;
    // SAFETY: sysconf only reads.
    Ok(pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as f64)
}

trait NodeName {
    fn node_name(&self) -> &str;
}

impl NodeName for Pod {
    fn node_name(&self) -> &str {
        self.spec
            .as_ref()
            .and_then(|spec| spec.node_name.as_deref())
            .unwrap_or_default()
    }
}

impl NodeName for DynamicObject {
    fn node_name(&self) -> &str {
        self.data["spec"]["nodeName"].as_str().unwrap_or_default()
    }
}

fn namespace_of<K: Resource>(object: &K) -> &str {
    object.meta().namespace.as_deref().unwrap_or_default()
}

fn key_of<K: Resource>(object: &K) -> String {
    format!(
        "{}/{}",
        namespace_of(object),
        object.meta().name.as_deref().unwrap_or_default()
    )
}

/// The two indexes. An update that leaves both values alone touches neither, as in client-go.
#[derive(Default)]
struct Indexes {
    by_namespace: Index,
    by_node: Index,
}

impl Indexes {
    fn put<K: Resource + NodeName>(&mut self, object: &K, old: Option<&K>) {
        if let Some(old) = old {
            if namespace_of(old) == namespace_of(object) && old.node_name() == object.node_name() {
                return;
            }
            self.remove(old);
        }
        let key: Arc<str> = key_of(object).into();
        add(&mut self.by_namespace, namespace_of(object), key.clone());
        add(&mut self.by_node, object.node_name(), key);
    }

    fn remove<K: Resource + NodeName>(&mut self, object: &K) {
        let key = key_of(object);
        drop_from(&mut self.by_namespace, namespace_of(object), &key);
        drop_from(&mut self.by_node, object.node_name(), &key);
    }
}

fn add(index: &mut Index, value: &str, key: Arc<str>) {
    if let Some(keys) = index.get_mut(value) {
        keys.insert(key);
    } else {
        index.insert(value.to_owned(), HashSet::from([key]));
    }
}

fn drop_from(index: &mut Index, value: &str, key: &str) {
    if let Some(keys) = index.get_mut(value) {
        keys.remove(key);
        if keys.is_empty() {
            index.remove(value);
        }
    }
}

struct Run {
    watches: bool,
    objects: usize,
    events: usize,
}

async fn measure<K>(api: Api<K>, kind: K::DynamicType, run: Run) -> Result<(), Failure>
where
    K: Resource + NodeName + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    K::DynamicType: Clone + Eq + Hash,
{
    let last = (FIRST_VERSION + (run.objects + run.events) as u64).to_string();
    let mut writer = Writer::<K>::new(kind.clone());
    let store = writer.as_reader();
    let mut indexes = Indexes::default();
    let mut queues = [HashSet::<String>::new(), HashSet::<String>::new()];
    let before = resident_bytes().await?;
    let mut started = (Instant::now(), cpu_ms());
    let mut stream = pin!(watcher(api, WatchConfig::default()));
    loop {
        let event = stream.try_next().await?.ok_or("the watcher ended")?;
        match &event {
            Event::Init => indexes = Indexes::default(),
            Event::InitApply(object) => indexes.put(object, None),
            Event::Apply(object) => {
                let old = store.get(&ObjectRef::from_obj_with(object, kind.clone()));
                indexes.put(object, old.as_deref());
            }
            Event::Delete(object) => indexes.remove(object),
            Event::InitDone => {}
        }
        writer.apply_watcher_event(&event);
        match &event {
            Event::InitApply(object) | Event::Apply(object) | Event::Delete(object) => {
                for queue in &mut queues {
                    queue.insert(key_of(object));
                }
                if object.meta().resource_version.as_ref() == Some(&last) && run.watches {
                    break;
                }
            }
            Event::InitDone if run.watches => started = (Instant::now(), cpu_ms()),
            Event::InitDone => break,
            Event::Init => {}
        }
    }
    let wall_ms = started.0.elapsed().as_secs_f64() * 1000.0;
    let used = cpu_ms() - started.1;
    if store.len() != run.objects {
        return Err(format!("{} objects, expected {}", store.len(), run.objects).into());
    }
    let ops = if run.watches { run.events } else { run.objects };
    let bytes_per_key = (resident_bytes().await? - before) / run.objects as f64;
    println!(
        "{}",
        serde_json::json!({ "ops": ops, "wallMs": wall_ms, "cpuMs": used, "bytesPerKey": bytes_per_key })
    );
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().collect();
    let [_, flavour, scenario, objects, events, url, ..] = args.as_slice() else {
        return Err("usage: informer <dynamic|typed> <scenario> <objects> <events> <url>".into());
    };
    let run = Run {
        watches: scenario == "watch",
        objects: objects.parse()?,
        events: events.parse()?,
    };
    let client = Client::try_from(Config::new(url.parse()?))?;
    if flavour == "typed" {
        measure::<Pod>(Api::all(client), (), run).await
    } else {
        let kind = ApiResource::erase::<Pod>(&());
        measure::<DynamicObject>(Api::all_with(client, &kind), kind.clone(), run).await
    }
}
