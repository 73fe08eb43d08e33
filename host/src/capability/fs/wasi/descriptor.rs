//! Descriptors: what is done by names goes through the rules of the granted folders, what is done with an open file through wasmtime.

use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::{
    filesystem::Descriptor,
    p2::{
        DynInputStream, DynOutputStream, FsResult,
        bindings::filesystem::types::{
            self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntryStream, ErrorCode,
            MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
        },
    },
};

use super::{
    super::{fault::Outcome, host::elsewhere},
    change,
    directory::DirectoryListing,
    guarded::Guarded,
    open::{self, Wish},
    open_files::DescriptorLease,
};
use crate::grant::Access;

impl types::HostDescriptor for Guarded<'_> {
    async fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let wish = Wish { how, flags };
        let found = self.find(&fd, &path, wish.access())?;
        let files = self.files().ok_or(ErrorCode::NotPermitted)?;
        let lease = files.held.open_files.lease(wish.descriptors())?;
        let memory = self.memory();
        let opened = elsewhere(move || open::open(&found, &memory, wish)).await?;
        let fd = self.open().table.push(opened.descriptor)?;
        if let Some(files) = self.files() {
            files.held.directories.extend(opened.directory.map(|directory| (fd.rep(), directory)));
            files.held.written.extend(opened.written.map(|written| (fd.rep(), Arc::new(written))));
            files.held.leases.insert(fd.rep(), Arc::new(DescriptorLease::new(lease, opened.copy)));
        }
        Ok(fd)
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        let rep = fd.rep();
        // Closed first: what is released may be taken at once.
        types::HostDescriptor::drop(&mut self.open(), fd)?;
        if let Some(files) = self.files() {
            files.held.directories.remove(&rep);
            files.held.written.remove(&rep);
            files.held.leases.remove(&rep);
        }
        Ok(())
    }

    async fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let found = self.find(&fd, &path, Access::Write)?;
        self.work(found, change::make_directory).await
    }

    async fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let found = self.find(&fd, &path, Access::Write)?;
        self.work(found, change::remove_directory).await
    }

    async fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let found = self.find(&fd, &path, Access::Write)?;
        self.work(found, change::remove_file).await
    }

    async fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let found = self.find(&fd, &path, Access::Write)?;
        let target = self.find(&new_fd, &new_path, Access::Write)?.path;
        self.work(found, move |folders, budget, path| change::rename(folders, budget, path, &target)).await
    }

    async fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let found = self.find(&fd, &path, Access::Write)?;
        let times = change::times(accessed, modified);
        self.work(found, move |folders, _, path| change::set_times(folders, path, times)).await
    }

    async fn link_at(
        &mut self,
        _: Resource<Descriptor>,
        _: PathFlags,
        _: String,
        _: Resource<Descriptor>,
        _: String,
    ) -> FsResult<()> {
        self.uses(Access::Write);
        Err(ErrorCode::NotPermitted.into())
    }

    async fn symlink_at(&mut self, _: Resource<Descriptor>, _: String, _: String) -> FsResult<()> {
        self.uses(Access::Write);
        Err(ErrorCode::NotPermitted.into())
    }

    async fn stat_at(&mut self, fd: Resource<Descriptor>, _: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let found = self.find(&fd, &path, Access::Read)?;
        self.work(found, |folders, _, path| change::stat(folders, path)).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        _: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let found = self.find(&fd, &path, Access::Read)?;
        self.work(found, |folders, _, path| change::identity(folders, path)).await
    }

    /// Everything is opened by what links lead to; a guest has no use for the links.
    async fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        self.find(&fd, &path, Access::Read)?;
        Err(ErrorCode::Invalid.into())
    }

    async fn set_size(&mut self, fd: Resource<Descriptor>, size: u64) -> FsResult<()> {
        let (written, budget) = self.writing(&fd, size)?;
        budget.take(size, 0)?;
        elsewhere(move || written.judge_size(size)).await?;
        self.open().set_size(fd, size).await
    }

    async fn write(&mut self, fd: Resource<Descriptor>, bytes: Vec<u8>, offset: u64) -> FsResult<u64> {
        let length = bytes.len() as u64;
        let (written, budget) = self.writing(&fd, offset.saturating_add(length))?;
        budget.take(length, 0)?;
        let judged = move || -> Outcome<Vec<u8>> {
            written.judge(&bytes)?;
            written.judge_at(offset, &bytes)?;
            Ok(bytes)
        };
        let bytes = elsewhere(judged).await?;
        self.open().write(fd, bytes, offset).await
    }

    fn write_via_stream(&mut self, fd: Resource<Descriptor>, offset: u64) -> FsResult<Resource<DynOutputStream>> {
        let (writing, lease) = (self.writing(&fd, offset)?, self.lease(&fd));
        let stream = self.open().write_via_stream(fd, offset)?;
        self.counted(stream, lease, writing, Some(offset))
    }

    fn append_via_stream(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DynOutputStream>> {
        let (writing, lease) = (self.writing(&fd, 0)?, self.lease(&fd));
        let stream = self.open().append_via_stream(fd)?;
        self.counted(stream, lease, writing, None)
    }

    async fn set_times(
        &mut self,
        fd: Resource<Descriptor>,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.uses(Access::Write);
        self.open().set_times(fd, accessed, modified).await
    }

    async fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.open().sync(fd).await
    }

    async fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        self.open().sync_data(fd).await
    }

    async fn advise(&mut self, fd: Resource<Descriptor>, offset: u64, length: u64, advice: Advice) -> FsResult<()> {
        self.open().advise(fd, offset, length, advice).await
    }

    async fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        self.open().get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        self.open().get_type(fd).await
    }

    async fn read(&mut self, fd: Resource<Descriptor>, length: u64, offset: u64) -> FsResult<(Vec<u8>, bool)> {
        self.uses(Access::Read);
        self.open().read(fd, length, offset).await
    }

    fn read_via_stream(&mut self, fd: Resource<Descriptor>, offset: u64) -> FsResult<Resource<DynInputStream>> {
        self.uses(Access::Read);
        let lease = self.lease(&fd);
        let stream = self.open().read_via_stream(fd, offset)?;
        self.leased(stream, lease)
    }

    async fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>> {
        self.uses(Access::Read);
        let directory = match self.open().table.get(&fd)? {
            Descriptor::Dir(directory) => Arc::clone(&directory.dir),
            Descriptor::File(_) => return Err(ErrorCode::NotDirectory.into()),
        };
        let memory = self.memory();
        let listing = elsewhere(move || DirectoryListing::read(&directory, &memory)).await?;
        listing.push(self.open().table)
    }

    async fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        self.open().stat(fd).await
    }

    async fn is_same_object(
        &mut self,
        one: Resource<Descriptor>,
        other: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        self.open().is_same_object(one, other).await
    }

    async fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        self.open().metadata_hash(fd).await
    }
}
