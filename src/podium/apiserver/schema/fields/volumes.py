"""Volumes of pods, one struct per source.

Sources that persistent volumes have too, with the same fields, are shared between both.
`schema/notation.py` explains the notation.
"""

TEXT = """
[core]
StorageMedium = string
AzureDataDiskCachingMode = None | ReadOnly | ReadWrite
AzureDataDiskKind = Dedicated | Managed | Shared
HostPathType =  | BlockDevice | CharDevice | Directory | DirectoryOrCreate | File | FileOrCreate
  | Socket
PersistentVolumeAccessMode = ReadOnlyMany | ReadWriteMany | ReadWriteOnce | ReadWriteOncePod
PersistentVolumeMode = Block | Filesystem
Volume
    name! string; hostPath *HostPathVolumeSource; emptyDir *EmptyDirVolumeSource;
    gcePersistentDisk *GCEPersistentDiskVolumeSource;
    awsElasticBlockStore *AWSElasticBlockStoreVolumeSource; gitRepo *GitRepoVolumeSource;
    secret *SecretVolumeSource; nfs *NFSVolumeSource; iscsi *ISCSIVolumeSource;
    glusterfs *GlusterfsVolumeSource; persistentVolumeClaim *PersistentVolumeClaimVolumeSource;
    rbd *RBDVolumeSource; flexVolume *FlexVolumeSource; cinder *CinderVolumeSource;
    cephfs *CephFSVolumeSource; flocker *FlockerVolumeSource;
    downwardAPI *DownwardAPIVolumeSource; fc *FCVolumeSource; azureFile *AzureFileVolumeSource;
    configMap *ConfigMapVolumeSource; vsphereVolume *VsphereVirtualDiskVolumeSource;
    quobyte *QuobyteVolumeSource; azureDisk *AzureDiskVolumeSource;
    photonPersistentDisk *PhotonPersistentDiskVolumeSource; projected *ProjectedVolumeSource;
    portworxVolume *PortworxVolumeSource; scaleIO *ScaleIOVolumeSource;
    storageos *StorageOSVolumeSource; csi *CSIVolumeSource; ephemeral *EphemeralVolumeSource;
    image *ImageVolumeSource
HostPathVolumeSource
    path! string; type *HostPathType
EmptyDirVolumeSource
    medium StorageMedium; sizeLimit *Quantity
GCEPersistentDiskVolumeSource
    pdName!, fsType string; partition int32; readOnly bool
AWSElasticBlockStoreVolumeSource
    volumeID!, fsType string; partition int32; readOnly bool
GitRepoVolumeSource
    repository!, revision, directory string
SecretVolumeSource
    secretName string; items []KeyToPath; defaultMode *int32; optional *bool
KeyToPath
    key!, path! string; mode *int32
NFSVolumeSource
    server!, path! string; readOnly bool
ISCSIVolumeSource
    targetPortal!, iqn! string; lun! int32; iscsiInterface string =default; fsType string;
    readOnly bool; portals []string; chapAuthDiscovery, chapAuthSession bool;
    secretRef *LocalObjectReference; initiatorName *string
GlusterfsVolumeSource
    endpoints!, path! string; readOnly bool
PersistentVolumeClaimVolumeSource
    claimName! string; readOnly bool
RBDVolumeSource
    monitors! []string; image!, fsType string; pool string =rbd; user string =admin;
    keyring string =/etc/ceph/keyring; secretRef *LocalObjectReference; readOnly bool
FlexVolumeSource
    driver!, fsType string; secretRef *LocalObjectReference; readOnly bool;
    options map[string]string
CinderVolumeSource
    volumeID!, fsType string; readOnly bool; secretRef *LocalObjectReference
CephFSVolumeSource
    monitors! []string; path, user, secretFile string; secretRef *LocalObjectReference;
    readOnly bool
FlockerVolumeSource
    datasetName, datasetUUID string
DownwardAPIVolumeSource
    items []DownwardAPIVolumeFile; defaultMode *int32
DownwardAPIVolumeFile
    path! string; fieldRef *ObjectFieldSelector; resourceFieldRef *ResourceFieldSelector;
    mode *int32
FCVolumeSource
    targetWWNs []string; lun *int32; fsType string; readOnly bool; wwids []string
AzureFileVolumeSource
    secretName!, shareName! string; readOnly bool
ConfigMapVolumeSource
    name string =; items []KeyToPath; defaultMode *int32; optional *bool
VsphereVirtualDiskVolumeSource
    volumePath!, fsType, storagePolicyName, storagePolicyID string
QuobyteVolumeSource
    registry!, volume! string; readOnly bool; user, group, tenant string
AzureDiskVolumeSource
    diskName!, diskURI! string;
    cachingMode *AzureDataDiskCachingMode =ReadWrite;
    fsType *string =ext4; readOnly *bool =false; kind *AzureDataDiskKind =Shared
PhotonPersistentDiskVolumeSource
    pdID!, fsType string
ProjectedVolumeSource
    sources+ []VolumeProjection; defaultMode *int32
VolumeProjection
    secret *SecretProjection; downwardAPI *DownwardAPIProjection; configMap *ConfigMapProjection;
    serviceAccountToken *ServiceAccountTokenProjection;
    clusterTrustBundle *ClusterTrustBundleProjection; podCertificate *PodCertificateProjection
SecretProjection
    name string =; items []KeyToPath; optional *bool
DownwardAPIProjection
    items []DownwardAPIVolumeFile
ConfigMapProjection
    name string =; items []KeyToPath; optional *bool
ServiceAccountTokenProjection
    audience string; expirationSeconds *int64; path! string
ClusterTrustBundleProjection
    name, signerName *string; labelSelector *LabelSelector; optional *bool; path! string
PodCertificateProjection
    signerName!?, keyType!? string; maxExpirationSeconds *int32;
    credentialBundlePath, keyPath, certificateChainPath string; userAnnotations map[string]string
PortworxVolumeSource
    volumeID!, fsType string; readOnly bool
ScaleIOVolumeSource
    gateway!, system! string; secretRef! *LocalObjectReference; sslEnabled bool;
    protectionDomain, storagePool string; storageMode string =ThinProvisioned; volumeName string;
    fsType string =xfs; readOnly bool
StorageOSVolumeSource
    volumeName, volumeNamespace, fsType string; readOnly bool; secretRef *LocalObjectReference
CSIVolumeSource
    driver! string; readOnly *bool; fsType *string; volumeAttributes map[string]string;
    nodePublishSecretRef *LocalObjectReference
EphemeralVolumeSource
    volumeClaimTemplate *PersistentVolumeClaimTemplate
PersistentVolumeClaimTemplate
    metadata ObjectMeta; spec! PersistentVolumeClaimSpec
PersistentVolumeClaimSpec
    accessModes []PersistentVolumeAccessMode; selector *LabelSelector;
    resources VolumeResourceRequirements; volumeName string; storageClassName *string;
    volumeMode *PersistentVolumeMode; dataSource *TypedLocalObjectReference;
    dataSourceRef *TypedObjectReference; volumeAttributesClassName *string
VolumeResourceRequirements
    limits, requests ResourceList
TypedLocalObjectReference atomic
    apiGroup+ *string; kind!, name! string
TypedObjectReference
    apiGroup+ *string; kind!, name! string; namespace *string
ImageVolumeSource
    reference string; pullPolicy PullPolicy
"""
