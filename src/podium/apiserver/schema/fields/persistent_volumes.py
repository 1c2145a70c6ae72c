"""Persistent volumes and claims, and the sources that only they have.

What a pod mounts directly stands in `volumes`.
`schema/notation.py` explains the notation.
"""

TEXT = """
[core]
ConditionStatus, PersistentVolumeClaimConditionType = string
ClaimResourceStatus = ControllerResizeInProgress | ControllerResizeInfeasible |
  NodeResizeInProgress | NodeResizeInfeasible | NodeResizePending
NodeSelectorOperator = DoesNotExist | Exists | Gt | In | Lt | NotIn
PersistentVolumeClaimModifyVolumeStatus = InProgress | Infeasible | Pending
PersistentVolumeClaimPhase = Bound | Lost | Pending
PersistentVolumePhase = Available | Bound | Failed | Pending | Released
PersistentVolumeReclaimPolicy = Delete | Recycle | Retain
PersistentVolume object
    metadata ObjectMeta; spec PersistentVolumeSpec; status PersistentVolumeStatus
PersistentVolumeSpec
    capacity ResourceList; gcePersistentDisk *GCEPersistentDiskVolumeSource;
    awsElasticBlockStore *AWSElasticBlockStoreVolumeSource; hostPath *HostPathVolumeSource;
    glusterfs *GlusterfsPersistentVolumeSource; nfs *NFSVolumeSource;
    rbd *RBDPersistentVolumeSource; iscsi *ISCSIPersistentVolumeSource;
    cinder *CinderPersistentVolumeSource; cephfs *CephFSPersistentVolumeSource;
    fc *FCVolumeSource; flocker *FlockerVolumeSource; flexVolume *FlexPersistentVolumeSource;
    azureFile *AzureFilePersistentVolumeSource; vsphereVolume *VsphereVirtualDiskVolumeSource;
    quobyte *QuobyteVolumeSource; azureDisk *AzureDiskVolumeSource;
    photonPersistentDisk *PhotonPersistentDiskVolumeSource; portworxVolume *PortworxVolumeSource;
    scaleIO *ScaleIOPersistentVolumeSource; local *LocalVolumeSource;
    storageos *StorageOSPersistentVolumeSource; csi *CSIPersistentVolumeSource;
    accessModes []PersistentVolumeAccessMode; claimRef *ObjectReference granular;
    persistentVolumeReclaimPolicy PersistentVolumeReclaimPolicy; storageClassName string;
    mountOptions []string; volumeMode *PersistentVolumeMode; nodeAffinity *VolumeNodeAffinity;
    volumeAttributesClassName *string
GlusterfsPersistentVolumeSource
    endpoints!, path! string; readOnly bool; endpointsNamespace *string
RBDPersistentVolumeSource
    monitors! []string; image!, fsType string; pool string =rbd; user string =admin;
    keyring string =/etc/ceph/keyring; secretRef *SecretReference; readOnly bool
SecretReference atomic
    name, namespace string
ISCSIPersistentVolumeSource
    targetPortal!, iqn! string; lun! int32; iscsiInterface string =default; fsType string;
    readOnly bool; portals []string; chapAuthDiscovery, chapAuthSession bool;
    secretRef *SecretReference; initiatorName *string
CinderPersistentVolumeSource
    volumeID!, fsType string; readOnly bool; secretRef *SecretReference
CephFSPersistentVolumeSource
    monitors! []string; path, user, secretFile string; secretRef *SecretReference; readOnly bool
FlexPersistentVolumeSource
    driver!, fsType string; secretRef *SecretReference; readOnly bool; options map[string]string
AzureFilePersistentVolumeSource
    secretName!, shareName! string; readOnly bool; secretNamespace+ *string
ScaleIOPersistentVolumeSource
    gateway!, system! string; secretRef! *SecretReference; sslEnabled bool;
    protectionDomain, storagePool string; storageMode string =ThinProvisioned; volumeName string;
    fsType string =xfs; readOnly bool
LocalVolumeSource
    path! string; fsType *string
StorageOSPersistentVolumeSource
    volumeName, volumeNamespace, fsType string; readOnly bool; secretRef *ObjectReference
ObjectReference atomic
    kind, namespace, name string; uid UID; apiVersion, resourceVersion, fieldPath string
CSIPersistentVolumeSource
    driver!, volumeHandle! string; readOnly bool; fsType string;
    volumeAttributes map[string]string;
    controllerPublishSecretRef, nodeStageSecretRef *SecretReference;
    nodePublishSecretRef, controllerExpandSecretRef *SecretReference;
    nodeExpandSecretRef *SecretReference
VolumeNodeAffinity
    required *NodeSelector
NodeSelector atomic
    nodeSelectorTerms! []NodeSelectorTerm
NodeSelectorTerm atomic
    matchExpressions, matchFields []NodeSelectorRequirement
NodeSelectorRequirement
    key! string; operator! NodeSelectorOperator; values []string
PersistentVolumeStatus
    phase PersistentVolumePhase; message, reason string; lastPhaseTransitionTime *Time
PersistentVolumeClaim object
    metadata ObjectMeta; spec PersistentVolumeClaimSpec; status PersistentVolumeClaimStatus
PersistentVolumeClaimStatus
    phase PersistentVolumeClaimPhase; accessModes []PersistentVolumeAccessMode;
    capacity ResourceList; conditions []PersistentVolumeClaimCondition{type} merge;
    allocatedResources ResourceList;
    allocatedResourceStatuses map[ResourceName]ClaimResourceStatus granular;
    currentVolumeAttributesClassName *string; modifyVolumeStatus *ModifyVolumeStatus
PersistentVolumeClaimCondition
    type! PersistentVolumeClaimConditionType; status! ConditionStatus;
    lastProbeTime, lastTransitionTime Time; reason, message string
ModifyVolumeStatus
    targetVolumeAttributesClassName string; status! PersistentVolumeClaimModifyVolumeStatus
"""
