"""Real servers, each with a folder and ports of its own, for tests and measurements, which this
folder does not know: XRootD (alone, or a federation), nginx, an S3 and an FTP server, nfs-ganesha
(NFSv4.1); a batch system, Slurm.
"""
