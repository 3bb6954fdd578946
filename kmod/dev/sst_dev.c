// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/spindle-sst: the device through which processes attach to tables. See node/table.h.
 *
 * This file only copies arguments, as chardev.c does.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/spindle_table.h>

#include "base/net.h"
#include "file.h"
#include "node/table.h"
#include "sst_dev.h"

/* The first versions of the arguments end here. */
#define ATTACH_SIZE_MIN sizeof(struct spindle_table_attach)
#define PREDICATE_SIZE_MIN sizeof(struct spindle_predicate)

static long ioctl_attach(struct spindle_attachment *att, void __user *arg)
{
	char name[SPINDLE_NAME_LEN + 1];
	struct spindle_table_attach args;
	u32 size;
	int err;

	err = spindle_file_args(&args, sizeof(args), ATTACH_SIZE_MIN, arg, &size);
	if (!err)
		err = spindle_file_name(name, args.name, args.table);
	if (!err)
		err = spindle_table_bind(att, spindle_net_of(current->nsproxy->net_ns),
					 name[0] ? name : NULL, &args);
	if (err)
		return err;
	args.size = sizeof(args);
	return copy_to_user(arg, &args, min_t(size_t, size, sizeof(args))) ? -EFAULT : 0;
}

static long add(struct spindle_attachment *att, struct spindle_predicate __user *user,
		struct spindle_predicate *args)
{
	u32 size;
	int err;

	err = spindle_file_args(args, sizeof(*args), PREDICATE_SIZE_MIN, user, &size);
	if (err)
		return err;
	err = spindle_table_add(att, args);
	if (err)
		return put_user(args->bad, &user->bad) ? -EFAULT : err;
	return put_user((u32)sizeof(*args), &user->size) || put_user(args->id, &user->id) ?
	       -EFAULT : 0;
}

/* A predicate would take much of the stack. */
static long ioctl_add(struct spindle_attachment *att, void __user *arg)
{
	struct spindle_predicate *args = kmalloc(sizeof(*args), GFP_KERNEL);
	long err;

	if (!args)
		return -ENOMEM;
	err = add(att, arg, args);
	kfree(args);
	return err;
}

static long sst_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct spindle_attachment *att = file->private_data;
	void __user *ptr = (void __user *)arg;

	/* The number contains the size of the struct, which may be that of another version. */
	if ((cmd & ~IOCSIZE_MASK) == (SPINDLE_TABLE_IOC_ATTACH & ~IOCSIZE_MASK))
		return ioctl_attach(att, ptr);
	if ((cmd & ~IOCSIZE_MASK) == (SPINDLE_TABLE_IOC_ADD & ~IOCSIZE_MASK))
		return ioctl_add(att, ptr);
	switch (cmd) {
	case SPINDLE_TABLE_IOC_KICK:
		return spindle_file_kick(att);
	case SPINDLE_TABLE_IOC_SEATS:
		return spindle_file_seats(att, ptr);
	case SPINDLE_TABLE_IOC_REMOVE:
		return spindle_table_remove(att, arg);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations sst_fops = {
	.owner = THIS_MODULE,
	.open = spindle_file_open,
	.release = spindle_file_release,
	.unlocked_ioctl = sst_ioctl,
	.mmap = spindle_file_mmap,
	.poll = spindle_file_poll,
};

static struct miscdevice sst_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "spindle-sst",
	.fops = &sst_fops,
	.mode = 0600,
};

/**
 * spindle_sst_dev_init() - create /dev/spindle-sst
 *
 * Return: 0 or -errno
 */
int spindle_sst_dev_init(void)
{
	return misc_register(&sst_misc);
}

/**
 * spindle_sst_dev_exit() - remove /dev/spindle-sst
 *
 * No file is open, because open files hold the module.
 */
void spindle_sst_dev_exit(void)
{
	misc_deregister(&sst_misc);
}
